/** Kernels of the operations and their gradients. */
import type { Activation } from '../executor.js';
import type { Kernel } from './device.js';
import { elements, groups, kernel, logSum, segment } from './wgsl.js';

/** Numbers of activations in kernels; 0 is none. */
export const activationCodes: Readonly<Record<Activation, number>> = { tanh: 1, relu: 2, sigmoid: 3, exp: 4, leaky: 5 };

/**
 * [m, n] sums of k products in tiles of `tile` squared, 256 threads. Factors are read by steps of rows and columns; a bias and an
 * activation may come behind it, or the derivative of an activation by its value.
 */
const product = (tile: 32 | 64): Kernel => {
  const each = tile / 16;
  const load = (to: string, from: string, count: string, at: string, byRow: string, byColumn: string) => `
    for (var q = l; q < ${tile * 16}u; q += 256u) {
      var r = q / 16u; var c = q % 16u;
      if (${byColumn} != 1u) { r = q % ${tile}u; c = q / ${tile}u; }
      let row = ${at} + r; let column = k0 + c;
      ${to}[c * ${tile}u + r] = select(0.0, f[${from} + min(row, ${count} - 1u) * ${byRow} + min(column, k - 1u) * ${byColumn}], row < ${count} && column < k);
    }`;
  return kernel('a b out m k columns aRow aColumn bRow bColumn add bias act derivativeKind derivativeBy', 256, tile, {
    head: `var<workgroup> A: array<f32, ${tile * 16}>; var<workgroup> B: array<f32, ${tile * 16}>;`,
    body: `
  let top = w.y * ${tile}u; let left = w.x * ${tile}u; let tr = (l / 16u) * ${each}u; let tc = (l % 16u) * ${each}u;
  var sums: array<f32, ${each * each}>;
  for (var k0 = 0u; k0 < k; k0 += 16u) {
    ${load('A', 'a', 'm', 'top', 'aRow', 'aColumn')}
    ${load('B', 'b', 'columns', 'left', 'bColumn', 'bRow')}
    workgroupBarrier();
    for (var c = 0u; c < 16u; c++) {
      for (var y = 0u; y < ${each}u; y++) {
        let x = A[c * ${tile}u + tr + y];
        for (var z = 0u; z < ${each}u; z++) { sums[y * ${each}u + z] += x * B[c * ${tile}u + tc + z]; }
      }
    }
    workgroupBarrier();
  }
  for (var y = 0u; y < ${each}u; y++) {
    for (var z = 0u; z < ${each}u; z++) {
      let row = top + tr + y; let column = left + tc + z;
      if (row < m && column < columns) {
        let to = out + row * columns + column;
        var sum = sums[y * ${each}u + z];
        if (add == 1u) { sum += f[to]; }
        if (bias > 0u) { sum += f[bias - 1u + column]; }
        sum = activated(act, sum);
        if (derivativeKind > 0u) { sum *= derivative(derivativeKind, f[derivativeBy + row * columns + column]); }
        f[to] = sum;
      }
    }
  }`,
  });
};

const weighted = 'select(0.0, f[max(logWeights, 1u) - 1u + e], logWeights > 0u)';

export const kernels = {
  fill: elements('out value:f', 'f[out + t] = value;'),
  addScaled: elements('into x scale:f', 'f[into + t] += scale * f[x + t];'),
  activate: elements('out kind', 'f[out + t] = activated(kind, f[out + t]);'),
  activateGrad: elements('grads out kind', 'f[grads + t] *= derivative(kind, f[out + t]);'),
  addBias: elements('out bias width', 'f[out + t] += f[bias + t % width];'),
  /** Sums of columns of x, or of x · y: 16 columns a group, 4 threads each. */
  addColumnSums: kernel('width into x y rows', 64, 16, {
    head: 'var<workgroup> part: array<f32, 64>;',
    body: `
  let column = (w.y * 65535u + w.x) * 16u + l % 16u;
  var sum = 0.0;
  if (column < width) {
    for (var r = l / 16u; r < rows; r += 4u) {
      var x1 = f[x + r * width + column];
      if (y > 0u) { x1 *= f[y - 1u + r * width + column]; }
      sum += x1;
    }
  }
  part[l] = sum;
  workgroupBarrier();
  if (l < 16u && column < width) { f[into + column] += (part[l] + part[l + 16u]) + (part[l + 32u] + part[l + 48u]); }`,
  }),
  /** A block of columns into another. */
  block: elements(
    'columns into intoWidth x xWidth add act',
    `let r = t / columns; let c = t % columns; let to = into + r * intoWidth + c;
  let value = f[x + r * xWidth + c];
  if (add == 1u) { f[to] += value; } else { f[to] = activated(act, value); }`,
  ),
  addProducts: elements(
    'into intoStep a b bStep width',
    `let r = t / width; let c = t % width;
  f[into + r * intoStep + c] += f[a + t] * f[b + r * bStep + c];`,
  ),
  rows: elements(
    'width out table index add',
    `let value = f[table + u32(n[index + t / width]) * width + t % width];
  if (add == 1u) { f[out + t] += value; } else { f[out + t] = value; }`,
  ),
  /**
   * Sums of lists of rows, in their order: into[which[g]] += scale · Σ_e by[e] · x[row[e]], e in list g; without `which` list g is
   * of row g. With `fresh` sums are written instead of added. Of entries that were picked, lists have all that they were picked of. A
   * group a list and 64 columns.
   */
  sumLists: groups(
    'blocks into intoStep which fresh begins order place source picked x step row by scale:f width',
    `let list = g / blocks; let column = (g % blocks) * 64u + l;
  if (column >= width) { return; }
  var sum = 0.0;
  let end = n[begins + list + 1u];
  for (var e = n[begins + list]; e < end; e++) {
    var entry = u32(e);
    if (order > 0u) { entry = u32(n[order - 1u + entry]); }
    if (place > 0u) {
      let at = u32(n[place - 1u + entry]);
      if (at >= picked || n[source + at] != i32(entry)) { continue; }
      entry = at;
    }
    var source = entry;
    if (row > 0u) { source = u32(n[row - 1u + entry]); }
    var factor = scale;
    if (by > 0u) { factor *= f[by - 1u + entry]; }
    sum += factor * f[x + source * step + column];
  }
  var to = list;
  if (which > 0u) { to = u32(n[which - 1u + list]); }
  to = into + to * intoStep + column;
  if (fresh == 1u) { f[to] = sum; } else { f[to] += sum; }`,
  ),
  /** Dot products of pairs of rows: 8 threads a pair, 8 pairs a group. */
  addDots: kernel('count out x step left y right width scale:f', 64, 8, {
    head: 'var<workgroup> part: array<f32, 64>;',
    body: `
  let pair = (w.y * 65535u + w.x) * 8u + l / 8u;
  var sum = 0.0;
  if (pair < count) {
    let a = x + u32(n[left + pair]) * step; let b = y + u32(n[right + pair]) * width;
    for (var j = l % 8u; j < width; j += 8u) { sum += f[a + j] * f[b + j]; }
  }
  part[l] = sum;
  workgroupBarrier();
  if (l % 8u == 0u && pair < count) {
    var all = 0.0;
    for (var j = 0u; j < 8u; j++) { all += part[l + j]; }
    f[out + pair] += scale * all;
  }`,
  }),
  segmentLogSoftmax: groups(
    'x out offsets columns logWeights',
    `${segment}
  for (var h = 0u; h < columns; h++) {
    ${logSum(`(f[x + e * columns + h] + ${weighted})`)}
    for (var e = begin + l; e < end; e += 64u) { f[out + e * columns + h] = f[x + e * columns + h] - logSum; }
  }`,
  ),
  segmentLogSoftmaxGrad: groups(
    'into grads out offsets columns logWeights',
    `${segment}
  for (var h = 0u; h < columns; h++) {
    var sum = 0.0;
    for (var e = begin + l; e < end; e += 64u) { sum += f[grads + e * columns + h]; }
    sum = total(l, sum);
    for (var e = begin + l; e < end; e += 64u) {
      let at = e * columns + h;
      f[into + at] += f[grads + at] - exp(f[out + at] + ${weighted}) * sum;
    }
  }`,
  ),
  /** The first of the largest of each segment, a thread a segment. */
  segmentMax: elements(
    'x out offsets which',
    `var best = n[offsets + t];
  for (var e = best + 1; e < n[offsets + t + 1u]; e++) { if (f[x + u32(e)] > f[x + u32(best)]) { best = e; } }
  n[which + t] = best;
  f[out + t] = f[x + u32(best)];`,
  ),
  segmentMaxGrad: elements('into grads which', 'f[into + u32(n[which + t])] += f[grads + t];'),
  logSumExp: groups(
    'x out width',
    `let begin = g * width; let end = begin + width;
  ${logSum('f[x + e]')}
  if (l == 0u) { f[out + g] = logSum; }`,
  ),
  logSumExpGrad: elements(
    'into grads x out width',
    'let r = t / width; f[into + t] += f[grads + r] * exp(f[x + t] - f[out + r]);',
  ),
  /** kind: 0 unit, 1 layer, 2 rms */
  normalize: groups(
    'x out scales width kind epsilon:f',
    `let begin = g * width; let end = begin + width;
  var mean = 0.0;
  if (kind == 1u) {
    for (var e = begin + l; e < end; e += 64u) { mean += f[x + e]; }
    mean = total(l, mean) / f32(width);
  }
  var square = 0.0;
  for (var e = begin + l; e < end; e += 64u) { let d = f[x + e] - mean; square += d * d; }
  square = total(l, square);
  var norm = sqrt(square / f32(width) + epsilon);
  if (kind == 0u) { norm = select(1.0, sqrt(square), square > 0.0); }
  for (var e = begin + l; e < end; e += 64u) { f[out + e] = (f[x + e] - mean) / norm; }
  if (l == 0u) { f[scales + g] = norm; }`,
  ),
  normalizeGrad: groups(
    'into grads out scales width kind',
    `let begin = g * width; let end = begin + width;
  var mean = 0.0; var along = 0.0;
  for (var e = begin + l; e < end; e += 64u) { mean += f[grads + e]; along += f[grads + e] * f[out + e]; }
  mean = select(0.0, total(l, mean) / f32(width), kind == 1u);
  along = total(l, along) / select(f32(width), 1.0, kind == 0u);
  for (var e = begin + l; e < end; e += 64u) { f[into + e] += (f[grads + e] - mean - along * f[out + e]) / f[scales + g]; }`,
  ),
  gruCell: elements(
    'given own past gates out width',
    `let at = t / width * 3u * width + t % width;
  let z = activated(3u, f[given + at] + f[own + at]);
  let r = activated(3u, f[given + at + width] + f[own + at + width]);
  let c = activated(1u, f[given + at + 2u * width] + r * f[own + at + 2u * width]);
  f[gates + at] = z; f[gates + at + width] = r; f[gates + at + 2u * width] = c;
  f[out + t] = z * f[past + t] + (1.0 - z) * c;`,
  ),
  gruCellGrad: elements(
    'grads own past gates ofGiven ofOwn ofPast width',
    `let at = t / width * 3u * width + t % width; let row = vec3u(at, at + width, at + 2u * width);
  let z = f[gates + row.x]; let r = f[gates + row.y]; let c = f[gates + row.z];
  let ofC = f[grads + t] * (1.0 - z) * (1.0 - c * c);
  let ofZ = f[grads + t] * (f[past + t] - c) * z * (1.0 - z);
  let ofR = ofC * f[own + row.z] * r * (1.0 - r);
  if (ofGiven > 0u) { let to = row + ofGiven - 1u; f[to.x] += ofZ; f[to.y] += ofR; f[to.z] += ofC; }
  if (ofOwn > 0u) { let to = row + ofOwn - 1u; f[to.x] += ofZ; f[to.y] += ofR; f[to.z] += ofC * r; }
  if (ofPast > 0u) { f[ofPast - 1u + t] += f[grads + t] * z; }`,
  ),
  roundBfloat16: elements(
    'out x',
    `let bits = bitcast<u32>(f[x + t]);
  f[out + t] = bitcast<f32>((bits + 0x7fffu + ((bits >> 16u) & 1u)) & 0xffff0000u);`,
  ),
  /** Sums of shares of an array, or of its squares: a group a share. */
  shares: groups(
    'x out length squares',
    `let each = (length + count - 1u) / count;
  let end = min(length, (g + 1u) * each);
  var sum = 0.0;
  for (var e = g * each + l; e < end; e += 64u) { let v = f[x + e]; sum += select(v, v * v, squares == 1u); }
  sum = total(l, sum);
  if (l == 0u) { f[out + g] = sum; }`,
  ),
  adamStep: elements(
    'weights first second grads beta1:f beta2:f gain:f squareGain:f rate:f secondScale:f epsilon:f keep:f',
    `let g = f[grads + t];
  let m = f[first + t] * beta1 + g * gain;
  let v = f[second + t] * beta2 + g * g * squareGain;
  f[first + t] = m;
  f[second + t] = v;
  f[weights + t] = f[weights + t] * keep - m * rate / (sqrt(v) * secondScale + epsilon);`,
  ),
  /** A group's products, one behind the other; `plan` has where each group's rows begin and their number, of both, and where its products begin. */
  groupProducts: groups(
    'a b out plan width',
    `let at = plan + g * 5u; let m = u32(n[at + 1u]); let k = u32(n[at + 3u]);
  for (var e = l; e < m * k; e += 64u) {
    let x = a + (u32(n[at]) + e / k) * width; let y = b + (u32(n[at + 2u]) + e % k) * width;
    var sum = 0.0;
    for (var j = 0u; j < width; j++) { sum += f[x + j] * f[y + j]; }
    f[out + u32(n[at + 4u]) + e] = sum;
  }`,
  ),
  /** Gradient of the left factor, or with `turned` of the right one: of each row of it, products with the rows of the other. */
  groupProductsGrad: groups(
    'into grads other plan width turned',
    `let at = plan + g * 5u; let m = u32(n[at + 1u]); let k = u32(n[at + 3u]);
  let own = select(0u, 2u, turned == 1u); let theirs = 2u - own;
  let rows = u32(n[at + own + 1u]); let others = u32(n[at + theirs + 1u]);
  for (var e = l; e < rows * width; e += 64u) {
    let r = e / width; let c = e % width;
    var sum = 0.0;
    for (var o = 0u; o < others; o++) {
      let pair = select(r * k + o, o * k + r, turned == 1u);
      sum += f[grads + u32(n[at + 4u]) + pair] * f[other + (u32(n[at + theirs]) + o) * width + c];
    }
    f[into + (u32(n[at + own]) + r) * width + c] += sum;
  }`,
  ),
  product32: product(32),
  product64: product(64),
};
