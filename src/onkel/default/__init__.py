"""The default learner's model, from inside to outside.

Exact least squares over learned landmarks (:mod:`onkel.maps.landmarks.search` searches them), cells
of columns that correct it (``corrected_by_cells``, ``cells``, ``bins``), a challenger that begins
when the losses rise (``challenger``, ``loss_window``, ``compute_budget``), probabilities
(``calibration``), and what the last labels add (``remembering``).
"""
