  /* The descent between two steps. */
  ar_real v[AR_VARIABLES], trial[AR_VARIABLES], best_v[AR_VARIABLES], J[AR_VARIABLES][6], e[6], y[6];
  ar_real residual, damping, predicted, aim2, aim_angle; /* squared residual at v; what the linear model leaves of it */
  int32_t descent_steps, most_steps;
  int patience, patient, weak, rejected, again, polishing, ended;
  uint8_t codes[AR_ELEMENTS];
  /* The search between two restarts. */
  ar_real best; /* squared residual at best_v */
  int32_t attempt, nearby;
  int same, worth;
  ar_real frame[3]; /* cosine and sine of the turn about the base axis, and the mirror */
  int16_t key[9];
  uint8_t used[(AR_SEEDS + 7) / 8];
