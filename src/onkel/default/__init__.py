"""The default learner's model, from inside to outside.

Exact least squares over learned landmarks (:mod:`onkel.maps.landmarks.search` searches them), cells
of columns, linear functions and trees that correct it (``corrected_by_cells``, ``cells``,
``linear_part``, ``linear_follower``, ``tree_part``), the last fit (``with_search``,
``without_search``), a challenger that begins when the losses rise (``challenger``, ``loss_window``,
``compute_budget``), probabilities (``calibration``), and what the last labels add
(``remembering``).
"""
