"""The default learner's model, from inside to outside.

Exact least squares over learned landmarks (:mod:`onkel.maps.landmarks.search` searches them), cells
of columns that correct it (``corrected_by_cells``, ``cells``, ``bins``, ``cell_loops``), a second
model that begins when the losses rise (``restarting``, ``rivals``, ``loss_history``), and
probabilities (``calibration``).
"""
