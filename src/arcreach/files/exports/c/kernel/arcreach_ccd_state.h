  ar_real v[AR_VARIABLES], points[AR_MOVES][3], axes[AR_MOVES][3], arms[AR_HAS_SWING ? AR_MOVES : 1][3];
  ar_real earlier; /* misfit a window of sweeps ago */
