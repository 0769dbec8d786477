  ar_real v[AR_VARIABLES], best_v[AR_VARIABLES], axes[AR_ELEMENTS][3];
  ar_real best; /* distance in units of half the reach, and angle, at best_v */
  int idle;     /* macro-iterations without a new best configuration */
