import { describe, expect, test } from '@jest/globals';
import {
  bootstrapMeans,
  differenceOverSeeds,
  groupDifference,
  meanOverSeeds,
  pairedDifferences,
} from '../../../src/metrics/bootstrap.js';
import { percentiles, studentInterval, wilson } from '../../../src/metrics/intervals.js';
import { Rng } from '../../../src/run/seeds.js';

describe('the interval of a mean', () => {
  test('is the binomial one where every sample is its own cluster', () => {
    const column = Array.from({ length: 400 }, (_, i) => (i % 4 === 0 ? 1 : 0));
    const [interval] = bootstrapMeans(
      [column],
      column.map((_, i) => i),
    );
    expect(interval!.value).toBe(0.25);
    expect(interval!.n).toBe(400);
    const half = 1.96 * Math.sqrt((0.25 * 0.75) / 400);
    expect(interval!.low).toBeCloseTo(0.25 - half, 1);
    expect(interval!.high).toBeCloseTo(0.25 + half, 1);
  });

  test('is wider where the samples of a dialogue agree', () => {
    const column = Array.from({ length: 400 }, (_, i) => (Math.floor(i / 10) % 2 === 0 ? 1 : 0));
    const width = (clusters: number[]) => {
      const [interval] = bootstrapMeans([column], clusters, { resamples: 500 });
      return interval!.high - interval!.low;
    };
    // 40 clusters of 10 equal values: the effective sample is ten times smaller, the width √10 larger.
    const ratio = width(column.map((_, i) => Math.floor(i / 10))) / width(column.map((_, i) => i));
    expect(ratio).toBeGreaterThan(2.6);
    expect(ratio).toBeLessThan(3.8);
  });

  test('weighs samples, not clusters, and repeats with its seed', () => {
    const clusters = ['a', 'a', 'a', 'b'];
    const [first] = bootstrapMeans([[1, 1, 1, 0]], clusters, { seed: 3 });
    expect(first).toEqual({ value: 0.75, low: 0, high: 1, n: 4 });
    expect(bootstrapMeans([[1, 1, 1, 0]], clusters, { seed: 3 })[0]).toEqual(first);
  });

  test('depends on its seed, and on nothing else that is random', () => {
    const column = Array.from({ length: 50 }, (_, i) => Math.sin(i));
    const ids = [...column.keys()];
    const of = (seed?: number) =>
      bootstrapMeans([column], ids, { resamples: 100, ...(seed !== undefined && { seed }) });
    expect(of()).toEqual(of(0));
    expect(of(1)[0]!.value).toBe(of(2)[0]!.value);
    expect(new Set([0, 1, 2, 3].map((seed) => of(seed)[0]!.low)).size).toBe(4);
    const difference = (seed: number) =>
      pairedDifferences([column], [ids.map((i) => Math.cos(i))], ids, { resamples: 100, seed })[0]!;
    expect(difference(1).low).not.toBe(difference(2).low);
  });

  test('has no width with a single cluster', () => {
    expect(bootstrapMeans([[1, 0]], ['a', 'a'])[0]).toEqual({ value: 0.5, low: 0.5, high: 0.5, n: 2 });
  });

  test('covers the truth about as often as it says', () => {
    let covered = 0;
    const rng = new Rng(1);
    for (let trial = 0; trial < 100; trial++) {
      const column = Float64Array.from({ length: 60 }, () => (rng.uniform() < 0.4 ? 1 : 0));
      const [interval] = bootstrapMeans([column], [...column.keys()], { resamples: 200, seed: trial });
      if (interval!.low <= 0.4 && interval!.high >= 0.4) covered++;
    }
    expect(covered).toBeGreaterThan(86);
  });
});

describe('at an edge', () => {
  const ids = (count: number) => Array.from({ length: count }, (_, i) => i);
  const all = (value: number, count: number) => Array<number>(count).fill(value);
  const share = { shares: [true] };

  test('ten of ten are Wilson’s 72 to 100 %, none of twenty 0 to 16 %: a bootstrap would have no width', () => {
    const [ten] = bootstrapMeans([all(1, 10)], ids(10), share);
    expect(ten).toMatchObject({ value: 1, high: 1, n: 10 });
    expect(ten!.low).toBeCloseTo(0.7225, 4);
    const [none] = bootstrapMeans([all(0, 20)], ids(20), share);
    expect(none).toMatchObject({ value: 0, low: 0 });
    expect(none!.high).toBeCloseTo(0.1611, 4);
  });

  test('clusters count, not samples; what is no share stays as it is', () => {
    const clusters = ids(40).map((i) => i % 10);
    expect(bootstrapMeans([all(1, 40)], clusters, share)[0]!.low).toBeCloseTo(0.7225, 4);
    expect(bootstrapMeans([all(1, 10)], ids(10))[0]).toMatchObject({ low: 1, high: 1 });
    expect(bootstrapMeans([[1, 1, 0]], ids(3), share)).toEqual(bootstrapMeans([[1, 1, 0]], ids(3)));
  });

  test('a difference that all samples have is tested by signs, and its interval has a width', () => {
    const [three] = pairedDifferences([all(1, 3)], [all(0, 3)], ids(3), share);
    expect(three).toMatchObject({ value: 1, high: 1, pValue: 0.25 });
    // Wilson interval of three out of three: 43.9 to 100 %.
    expect(three!.low).toBeCloseTo(2 * 0.4385 - 1, 3);
    // Values that are no shares have no known bound, and one half is not an extreme share.
    const [other] = pairedDifferences([all(1, 3)], [all(0, 3)], ids(3));
    const [half] = pairedDifferences([all(0.5, 3)], [all(0, 3)], ids(3), share);
    expect([other, half]).toMatchObject([
      { low: 1, high: 1 },
      { low: 0.5, high: 0.5 },
    ]);
    const [ten] = pairedDifferences([all(0, 10)], [all(1, 10)], ids(10), share);
    expect(ten!.pValue).toBeCloseTo(2 / 2 ** 10, 12);
    expect(ten).toMatchObject({ value: -1, low: -1 });
    expect(ten!.high).toBeCloseTo(1 - 2 * 0.7225, 3);
  });
});

describe('the paired difference', () => {
  const clusters = Array.from({ length: 300 }, (_, i) => i >> 1);
  test('of equal columns is 0 with p = 1', () => {
    const column = clusters.map((c) => c % 2);
    expect(pairedDifferences([column], [column], clusters)[0]).toEqual({
      value: 0,
      low: 0,
      high: 0,
      n: 300,
      pValue: 1,
    });
  });

  test('never has a p value below 2 / (resamples + 1): the observed one counts, too', () => {
    const gain = clusters.map((c) => 1 + (c % 3));
    const nothing = clusters.map(() => 0);
    for (const resamples of [9, 99, 999]) {
      for (const [a, b] of [
        [gain, nothing],
        [nothing, gain],
      ]) {
        expect(pairedDifferences([a!], [b!], clusters, { resamples })[0]!.pValue).toBe(2 / (resamples + 1));
      }
    }
  });

  test('sees a small steady gain that the separate intervals hide', () => {
    const b = clusters.map((c) => (c % 2 ? 1 : 0));
    const a = b.map((x, i) => (i % 20 === 0 ? 1 : x));
    const { value, low, pValue } = pairedDifferences([a], [b], clusters)[0]!;
    expect(value).toBeCloseTo(0.05, 10);
    expect(low).toBeGreaterThan(0);
    expect(pValue).toBeLessThan(0.01);
    const [ia, ib] = bootstrapMeans([a, b], clusters);
    expect(ia!.low).toBeLessThan(ib!.high);
  });

  test('rejects about one in twenty where there is no difference', () => {
    const rng = new Rng(5);
    let rejected = 0;
    for (let trial = 0; trial < 100; trial++) {
      const draw = () => Float64Array.from({ length: 80 }, () => (rng.uniform() < 0.5 ? 1 : 0));
      const ids = Array.from({ length: 80 }, (_, i) => i);
      const [result] = pairedDifferences([draw()], [draw()], ids, { resamples: 200, seed: trial });
      if (result!.pValue < 0.05) rejected++;
    }
    expect(rejected).toBeLessThan(14);
  });
});

describe('the difference of two groups', () => {
  const clusters = (n: number, size = 1) => Array.from({ length: n }, (_, i) => String(Math.floor(i / size)));

  test('is the difference of the means, with the same interval at every call', () => {
    const values = [1, 0, 1, 1, 0, 0];
    const inGroup = [true, true, true, true, false, false];
    const difference = groupDifference(values, inGroup, clusters(6));
    expect(difference).toMatchObject({ value: 0.75, n: 6 });
    expect(groupDifference(values, inGroup, clusters(6))).toEqual(difference);
  });

  test('has the interval of two independent shares where every sample is a cluster', () => {
    // 30 % of 400 and 10 % of 200: the standard error is √(.3 · .7 / 400 + .1 · .9 / 200).
    const n = 600;
    const inGroup = Array.from({ length: n }, (_, i) => i < 400);
    const values = inGroup.map((group, i) => Number(group ? i < 120 : i < 420));
    const { value, low, high } = groupDifference(values, inGroup, clusters(n));
    const half = 1.96 * Math.sqrt((0.3 * 0.7) / 400 + (0.1 * 0.9) / 200);
    expect(value).toBeCloseTo(0.2, 10);
    expect(low).toBeCloseTo(0.2 - half, 1);
    expect(high).toBeCloseTo(0.2 + half, 1);
    expect((high - low) / (2 * half)).toBeCloseTo(1, 0);
  });

  test('is as uncertain as its clusters are few, not its samples', () => {
    const inGroup = Array.from({ length: 400 }, (_, i) => i % 4 < 2);
    const values = inGroup.map((group, i) => Number(group && i < 200));
    const width = ({ low, high }: { low: number; high: number }) => high - low;
    const [single, tens] = [clusters(400, 4), clusters(400, 40)].map((of) =>
      width(groupDifference(values, inGroup, of)),
    );
    expect(tens!).toBeGreaterThan(2 * single!);
  });
});

describe('intervals in closed form', () => {
  /** P(T < t) of Student's t, by Simpson's rule: with t = √ν tan θ its density is a power of cos θ. */
  function chanceBelow(t: number, freedom: number): number {
    const integral = (to: number) => {
      const steps = 2000;
      const at = (i: number) => Math.cos((to * i) / steps) ** (freedom - 1);
      let sum = at(0) + at(steps);
      for (let i = 1; i < steps; i++) sum += (i % 2 === 1 ? 4 : 2) * at(i);
      return (sum * to) / steps / 3;
    };
    return 0.5 + 0.5 * (integral(Math.atan(t / Math.sqrt(freedom))) / integral(Math.PI / 2));
  }

  describe('the interval of a mean over seeds', () => {
    const halfOf = (n: number) => {
      const values = Array.from({ length: n }, (_, i) => i);
      const { value, low, high } = studentInterval(values);
      const variance = values.reduce((sum, one) => sum + (one - value) ** 2, 0) / (n - 1);
      expect(high - value).toBeCloseTo(value - low, 10);
      return (high - value) / Math.sqrt(variance / n);
    };

    test.each(Array.from({ length: 30 }, (_, i) => i + 1))(
      'takes the 97.5 %% point of t, %d degrees of freedom',
      (freedom) => {
        expect(Math.abs(chanceBelow(halfOf(freedom + 1), freedom) - 0.975)).toBeLessThan(5e-5);
      },
    );

    test('has no ends with one seed', () =>
      expect(studentInterval([0.5])).toEqual({ value: 0.5, low: NaN, high: NaN, n: 1 }));

    test('takes the last one where there are more', () => expect(halfOf(60)).toBeCloseTo(halfOf(31), 10));
  });

  test('the middle 95 % lie between places that are weighed where they are none', () => {
    const drawn = (count: number) => Float64Array.from({ length: count }, (_, i) => i * 10);
    expect(percentiles(drawn(201))).toEqual({ low: expect.closeTo(50, 9), high: expect.closeTo(1950, 9) });
    expect(percentiles(drawn(3))).toEqual({ low: expect.closeTo(0.5, 9), high: expect.closeTo(19.5, 9) });
  });

  test('a share at an edge has Wilson’s interval', () => {
    // Shares that are 1.96 standard errors from the edge.
    for (const clusters of [1, 10, 100]) {
      const { low, high } = wilson(1, clusters);
      expect([high, (1 - low) / Math.sqrt((low * (1 - low)) / clusters)]).toEqual([1, expect.closeTo(1.959964, 6)]);
      expect(wilson(0, clusters)).toEqual({ low: 0, high: expect.closeTo(1 - low, 12) });
    }
  });
});

describe('means over seeds', () => {
  const ids = Array.from({ length: 400 }, (_, i) => i);
  const rng = new Rng(3);
  const run = (share: number) => ids.map(() => Number(rng.uniform() < share));
  const width = ({ low, high }: { low: number; high: number }) => high - low;

  test('are wider than those of one run where seeds differ, and hold every seed', () => {
    const seeds = [0.98, 0.6, 0.8].map(run);
    const estimate = meanOverSeeds(seeds, ids, { share: true });
    const [own] = bootstrapMeans([ids.map((i) => seeds.reduce((sum, one) => sum + one[i]! / 3, 0))], ids);
    expect(estimate.value).toBeCloseTo(own!.value, 12);
    expect(estimate.n).toBe(400);
    expect(width(estimate)).toBeGreaterThan(4 * width(own!));
    const means = seeds.map((one) => one.reduce((sum, value) => sum + value, 0) / 400);
    expect(estimate.low).toBeGreaterThan(Math.min(...means) - 0.05);
    expect(estimate.high).toBeLessThan(Math.max(...means) + 0.05);
  });

  test('have the width that both levels together give', () => {
    // Seeds that differ by a constant: the variance of the mean is that of the seeds drawn plus that of the samples.
    const column = ids.map((i) => Math.sin(i));
    const seeds = [0, 1, 2, 3, 4, 5, 6, 7].map((shift) => column.map((value) => value + shift));
    const { low, high } = meanOverSeeds(seeds, ids, { resamples: 20_000 });
    const ofSeeds = (64 - 1) / 12 / 8;
    const ofSamples = 0.5 / 400;
    expect((high - low) / 2).toBeCloseTo(1.96 * Math.sqrt(ofSeeds + ofSamples), 1);
  });

  test('keep two seeds as they are', () => {
    const seeds = [run(0.9), run(0.5)];
    const [own] = bootstrapMeans([ids.map((i) => (seeds[0]![i]! + seeds[1]![i]!) / 2)], ids);
    const estimate = meanOverSeeds(seeds, ids);
    expect(estimate.low).toBeCloseTo(own!.low, 12);
    expect(estimate.high).toBeCloseTo(own!.high, 12);
  });

  test('of shares that are all right have a width', () => {
    const all = [1, 2, 3].map(() => ids.map(() => 1));
    expect(meanOverSeeds(all, ids, { share: true })).toMatchObject(wilson(1, 400));
  });

  test('compare: what seeds share goes out where runs belong together', () => {
    const luck = [0, 0.3, 0.6];
    const [a, b] = [0.1, 0].map((gain) => luck.map((shift) => ids.map((i) => gain + shift + 0.01 * Math.sin(i))));
    const paired = differenceOverSeeds(a!, b!, ids, { paired: true });
    const apart = differenceOverSeeds(a!, b!, ids, { paired: false });
    expect(paired).toMatchObject({ value: expect.closeTo(0.1, 9), low: expect.closeTo(0.1, 9), n: 400 });
    expect(paired.pValue).toBeLessThan(0.01);
    expect(apart.value).toBeCloseTo(0.1, 9);
    expect(apart.low).toBeLessThan(0);
    expect(apart.pValue).toBeGreaterThan(0.2);
  });
});
