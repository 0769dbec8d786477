  ar_real at[AR_DOF], trial[AR_DOF], best_q[AR_DOF];
  ar_real distance, angle, best; /* errors at `at`; the smallest at the end of a cycle, in tolerances */
  ar_real divisions;             /* steps that a range is divided into */
  int place, sign, first;        /* the coordinate whose turn it is, the direction of its steps */
  int32_t moves, counted;        /* of its phase: steps kept, iterations */
  int cycle, moved, idle;        /* steps kept in this cycle; cycles in a row without any */
