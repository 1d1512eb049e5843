/* Student's t distribution, for degrees of freedom that need not be whole (Welch). */
#ifndef MGB_DB_STUDENT_H
#define MGB_DB_STUDENT_H

/* P(T > t) with `freedom` > 0 degrees of freedom. */
double mgb_student_above(double t, double freedom);

/* The t that T exceeds with probability `share`, 0 < share <= 1/2. */
double mgb_student_quantile(double share, double freedom);

#endif
