/* Shares of a peak by size. */
#include <mgb/machine.h>

#include <math.h>

double mgb_curve_at(const struct mgb_curve *curve, double at)
{
    if (curve->count == 0)
        return 1;
    int above = 0;
    while (above < curve->count && curve->at[above] < at)
        above++;
    if (above == 0)
        return curve->value[0];
    if (above == curve->count)
        return curve->value[above - 1];
    double low = curve->at[above - 1], high = curve->at[above];
    double share = log(at / low) / log(high / low);
    return curve->value[above - 1] + share * (curve->value[above] - curve->value[above - 1]);
}
