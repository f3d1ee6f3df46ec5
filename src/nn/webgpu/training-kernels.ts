/** Kernels of whole training steps. */
import { groups, kernel, logSum, segment } from './wgsl.js';

/** Place of an action's logit. */
const place = (e: string) => `select(${e}, u32(n[max(legal, 1u) - 1u + ${e}]), legal > 0u)`;

export const trainingKernels = {
  /** Copies of segments of two columns, a group a segment. */
  pick: groups(
    'begins offsets segmentOf first second place source firstOut secondOut',
    `let begin = u32(n[begins + g]); let to = u32(n[offsets + g]); let length = u32(n[offsets + g + 1u]) - to;
  for (var e = l; e < length; e += 64u) {
    n[segmentOf + to + e] = i32(g);
    n[firstOut + to + e] = n[first + begin + e];
    n[secondOut + to + e] = n[second + begin + e];
    n[place + begin + e] = i32(to + e);
    n[source + to + e] = i32(begin + e);
  }`,
  ),
  /** `adamStep` with gradients scaled down to the norm `most`, of whose squares there are 256 shares; leaves zeros in them. */
  clippedAdamStep: kernel(
    'count weights first second grads shares norm stopped most:f beta1:f beta2:f gain:f squareGain:f rate:f secondScale:f epsilon:f keep:f',
    256,
    256,
    {
      head: 'var<workgroup> part: array<f32, 256>;',
      begin: `part[l] = f[shares + l];
  workgroupBarrier();
  for (var k = 128u; k > 0u; k >>= 1u) { if (l < k) { part[l] += part[l + k]; } workgroupBarrier(); }
  let size = sqrt(part[0]);
  let t = (w.y * 65535u + w.x) * 256u + l;
  if (t >= count || f[stopped] != 0.0) { return; }
  if (t == 0u) { f[norm] = size; }`,
      body: `
  // Comparisons with numbers that are not finite may be taken as never true.
  if ((bitcast<u32>(size) & 0x7f800000u) == 0x7f800000u) { if (t == 0u) { f[stopped] = 1.0; } return; }
  let g = f[grads + t] * select(1.0, most / size, size > most);
  let m = f[first + t] * beta1 + g * gain;
  let v = f[second + t] * beta2 + g * g * squareGain;
  f[grads + t] = 0.0;
  f[first + t] = m;
  f[second + t] = v;
  f[weights + t] = f[weights + t] * keep - m * rate / (sqrt(v) * secondScale + epsilon);`,
    },
  ),
  /**
   * PPO's loss of one state a group: log-softmax of its actions, clipped surrogate, value loss, entropy, KL and, where others than legal
   * actions are `scored`, feasibility loss, and their gradients.
   * @source as `ppoObjective` of the trainers
   */
  ppoObjective: groups(
    'logits dLogits offsets legal values dValues reference firsts action oldLogProb advantage returns oldValue pulls figures visits:f share:f clip:f dual:f reinforce entropyCoef:f klCoef:f valueCoef:f valueClip:f scored feasibilityCoef:f',
    `${segment}
  let first = u32(n[firsts + g]); let last = u32(n[firsts + g + 1u]);
  ${logSum(`f[logits + ${place('e')}]`)}
  let weight = f32(last - first) / visits;
  let spread = select(0.0, feasibilityCoef * weight, scored > 0u);
  var infeasible = 0.0;
  if (scored > 0u) {
    let begin = u32(n[scored - 1u + g]); let end = u32(n[scored + g]);
    let legalSum = logSum;
    ${logSum('f[logits + e]')}
    infeasible = weight * (logSum - legalSum);
    for (var e = begin + l; e < end; e += 64u) { f[dLogits + e] += share * spread * exp(f[logits + e] - logSum); }
  }
  var own = 0.0; var apart = 0.0;
  for (var e = begin + l; e < end; e += 64u) {
    let q = f[logits + ${place('e')}] - logSum;
    own -= exp(q) * q;
    if (reference > 0u) { apart += exp(q) * (q - f[reference - 1u + e]); }
  }
  let entropy = total(l, own);
  let kl = total(l, apart);
  var pull = 0.0;
  if (l == 0u) {
    var figure: array<f32, 10>;
    figure[8] = infeasible;
    var gradOfValue = 0.0;
    for (var t = first; t < last; t++) {
      let logProb = f[logits + ${place('(begin + u32(n[action + t]))')}] - logSum;
      let a = f[advantage + t];
      let logRatio = logProb - f[oldLogProb + t];
      let ratio = exp(logRatio);
      let free = ratio * a;
      let clipped = clamp(ratio, 1.0 - clip, 1.0 + clip) * a;
      let least = select(-3.4e38, dual * a, dual > 0.0 && a < 0.0);
      var own = 0.0;
      if (reinforce == 1u) {
        own = a / visits;
        figure[0] -= a * logProb / visits;
      } else {
        if (free <= clipped && free >= least) { own = free / visits; }
        figure[0] -= max(min(free, clipped), least) / visits;
      }
      f[pulls + t] = own;
      pull += own;
      figure[4] += (ratio - 1.0 - logRatio) / visits;
      if (abs(ratio - 1.0) > clip) { figure[5] += 1.0 / visits; }
      figure[9] = max(figure[9], abs(ratio - 1.0));
      if (values > 0u) {
        let value = f[values - 1u + g];
        let error = value - f[returns + t];
        var square = error * error;
        var grad = 2.0 * error;
        let moved = value - f[oldValue + t];
        if (valueClip > 0.0 && abs(moved) > valueClip) {
          let other = f[oldValue + t] + sign(moved) * valueClip - f[returns + t];
          if (other * other > square) { square = other * other; grad = 0.0; }
        }
        figure[1] += square / visits;
        gradOfValue += valueCoef * grad / visits;
      }
    }
    if (values > 0u) { f[dValues + g] += share * gradOfValue; }
    figure[2] = weight * entropy;
    figure[3] = weight * kl;
    if (end - begin > 1u) { figure[6] = weight * entropy / log(f32(end - begin)); figure[7] = weight; }
    for (var i = 0u; i < 10u; i++) { f[figures + g * 10u + i] = figure[i]; }
  }
  pull = total(l, pull);
  storageBarrier();
  workgroupBarrier();
  for (var e = begin + l; e < end; e += 64u) {
    let at = ${place('e')};
    let q = f[logits + at] - logSum;
    var grad = exp(q) * (pull - spread + entropyCoef * weight * (q + entropy));
    if (reference > 0u) { grad += klCoef * weight * exp(q) * (q - f[reference - 1u + e] - kl); }
    f[dLogits + at] += share * grad;
  }
  storageBarrier();
  workgroupBarrier();
  if (l == 0u) {
    for (var t = first; t < last; t++) { f[dLogits + ${place('(begin + u32(n[action + t]))')}] -= share * f[pulls + t]; }
  }`,
  ),
};
