/**
 * Kernels in WGSL. All bind the same three buffers: `f`, the floats, `n`, the integers, and `p`, the arguments of the dispatch. Arguments
 * that name arrays are places of their first value; `NAME:f` is a float. Where an array may be missing, its argument is 0 or the place plus 1.
 */
import type { Kernel } from './device.js';

const shared = `
@group(0) @binding(0) var<storage, read_write> f: array<f32>;
@group(0) @binding(1) var<storage, read_write> n: array<i32>;
@group(0) @binding(2) var<uniform> p: array<vec4u, 15>;

// Of differences of exponentials near 0 no digits are left, so there it is the series.
fn tanhOf(x: f32) -> f32 {
  let s = x * x;
  if (s < 0.0625) { return x * (1.0 + s * (-1.0 / 3.0 + s * (2.0 / 15.0 + s * (-17.0 / 315.0 + s * (62.0 / 2835.0))))); }
  let e = exp(-2.0 * min(abs(x), 20.0));
  return sign(x) * (1.0 - e) / (1.0 + e);
}
fn activated(kind: u32, x: f32) -> f32 {
  switch kind {
    case 1u: { return tanhOf(x); }
    case 2u: { return max(x, 0.0); }
    case 3u: { return 1.0 / (1.0 + exp(-x)); }
    case 4u: { return exp(x); }
    case 5u: { return select(0.2 * x, x, x > 0.0); }
    default: { return x; }
  }
}
// Derivatives by the value.
fn derivative(kind: u32, y: f32) -> f32 {
  switch kind {
    case 1u: { return 1.0 - y * y; }
    case 2u: { return select(0.0, 1.0, y > 0.0); }
    case 3u: { return y * (1.0 - y); }
    case 4u: { return y; }
    default: { return select(0.2, 1.0, y > 0.0); }
  }
}
`;

const argumentsOf = (args: string) =>
  args.split(' ').map((word, i) => {
    const [name, kind] = word.split(':') as [string, string?];
    const value = `p[${i >> 2}].${'xyzw'[i & 3]!}`;
    return { name, float: kind === 'f', line: `let ${name} = ${kind === 'f' ? `bitcast<f32>(${value})` : value};` };
  });

/** @param head what stands before the entry point @param begin lines of it before the body */
export function kernel(args: string, threads: number, each: number, { head = '', begin = '', body = '' }): Kernel {
  const all = argumentsOf(args);
  const code = `${shared}${head}
@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) w: vec3u, @builtin(local_invocation_index) l: u32) {
  ${all.map(({ line }) => line).join('\n  ')}
  ${begin}
  ${body}
}`;
  return { code, floats: all.map(({ float }) => float), each };
}

/** A thread an element `t` of `count`, the first argument. */
export const elements = (args: string, body: string): Kernel =>
  kernel(`count ${args}`, 256, 256, {
    begin: 'let t = (w.y * 65535u + w.x) * 256u + l; if (t >= count) { return; }',
    body,
  });

/** A workgroup of 64 for each group `g` of `count`, the first argument; `total` and `largest` reduce over its threads. */
export const groups = (args: string, body: string): Kernel =>
  kernel(`count ${args}`, 64, 1, {
    head: `
var<workgroup> part: array<f32, 64>;
fn total(l: u32, x: f32) -> f32 {
  part[l] = x;
  workgroupBarrier();
  for (var k = 32u; k > 0u; k >>= 1u) { if (l < k) { part[l] += part[l + k]; } workgroupBarrier(); }
  let sum = part[0];
  workgroupBarrier();
  return sum;
}
fn largest(l: u32, x: f32) -> f32 {
  part[l] = x;
  workgroupBarrier();
  for (var k = 32u; k > 0u; k >>= 1u) { if (l < k) { part[l] = max(part[l], part[l + k]); } workgroupBarrier(); }
  let most = part[0];
  workgroupBarrier();
  return most;
}`,
    begin: 'let g = w.y * 65535u + w.x; if (g >= count) { return; }',
    body,
  });

/** The largest and ln Σ exp of terms, a group's threads in turns. */
export const logSum = (term: string) => `
  var most = -3.4e38;
  for (var e = begin + l; e < end; e += 64u) { most = max(most, ${term}); }
  most = largest(l, most);
  var sum = 0.0;
  for (var e = begin + l; e < end; e += 64u) { sum += exp(${term} - most); }
  let logSum = most + log(total(l, sum));`;

/** Rows of a segment. */
export const segment = 'let begin = u32(n[offsets + g]); let end = u32(n[offsets + g + 1u]);';
