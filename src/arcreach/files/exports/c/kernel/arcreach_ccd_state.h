  ar_real v[AR_VARIABLES], points[AR_ELEMENTS][3], axes[AR_ELEMENTS][3], arms[AR_HAS_SWING ? AR_ELEMENTS : 1][3];
  ar_real earlier; /* misfit a window of sweeps ago */
