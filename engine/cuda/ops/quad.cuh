/* Four neighbours at once, 16 bytes a load, or one where their number or place does not allow it. */
#ifndef MGB_CUDA_OPS_QUAD_CUH
#define MGB_CUDA_OPS_QUAD_CUH

struct quad {
    float v[4]; /* only v[0] when not wide */
};

static __device__ __forceinline__ struct quad quad_all(float value)
{
    struct quad q;
    for (int k = 0; k < 4; k++)
        q.v[k] = value;
    return q;
}

static __device__ __forceinline__ struct quad quad_load(const float *from, int wide)
{
    struct quad q = quad_all(0.0f);
    if (!wide) {
        q.v[0] = from[0];
        return q;
    }
    float4 four = *(const float4 *)(const void *)from;
    q.v[0] = four.x;
    q.v[1] = four.y;
    q.v[2] = four.z;
    q.v[3] = four.w;
    return q;
}

static __device__ __forceinline__ void quad_store(float *to, struct quad q, int wide)
{
    if (!wide) {
        to[0] = q.v[0];
        return;
    }
    float4 four;
    four.x = q.v[0];
    four.y = q.v[1];
    four.z = q.v[2];
    four.w = q.v[3];
    *(float4 *)(void *)to = four;
}

#endif
