import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Rng } from '../../../src/run/seeds.js';
import { argmaxSegment, sampleSegment, segmentEntropy, segmentLogSoftmax } from '../../../src/nn/categorical.js';
import { checkProperty } from '../../fixtures/property.js';
import { thrownBy } from '../../fixtures/thrown.js';

/** Logits of several states, each with at least one action. */
const ragged = fc
  .array(fc.array(fc.float({ min: -60, max: 60, noNaN: true }), { minLength: 1, maxLength: 12 }), {
    minLength: 1,
    maxLength: 6,
  })
  .map((segments) => {
    const offsets = new Int32Array(segments.length + 1);
    segments.forEach((segment, s) => (offsets[s + 1] = offsets[s]! + segment.length));
    return { segments, offsets, logits: Float32Array.from(segments.flat()) };
  });

describe('log-probabilities of ragged actions', () => {
  test('are those of a softmax by hand', () => {
    // Shares 1 : 2 : 1 of the first state; the second has one action.
    const logits = Float32Array.from([0, Math.log(2), 0, -7]);
    const logProbs = segmentLogSoftmax(logits, Int32Array.from([0, 3, 4]));
    [0.25, 0.5, 0.25, 1].forEach((share, i) => expect(Math.exp(logProbs[i]!)).toBeCloseTo(share, 6));
  });

  test('sum to one in every state, for any logits', () => {
    checkProperty(
      fc.property(ragged, ({ offsets, logits }) => {
        const logProbs = segmentLogSoftmax(logits, offsets);
        for (let s = 0; s + 1 < offsets.length; s++) {
          const sum = logProbs
            .subarray(offsets[s], offsets[s + 1])
            .reduce((total, value) => total + Math.exp(value), 0);
          expect(sum).toBeCloseTo(1, 5);
        }
      }),
    );
  });

  test('of one state do not depend on the others, nor on a shift of its logits', () => {
    checkProperty(
      fc.property(ragged, fc.integer({ min: -20, max: 20 }), ({ segments, offsets, logits }, shift) => {
        const together = segmentLogSoftmax(logits, offsets);
        segments.forEach((segment, s) => {
          const alone = segmentLogSoftmax(
            Float32Array.from(segment, (logit) => logit + shift),
            Int32Array.from([0, segment.length]),
          );
          alone.forEach((value, i) => expect(value).toBeCloseTo(together[offsets[s]! + i]!, 4));
        });
      }),
    );
  });

  test('survive logits that overflow an exponential', () => {
    const logProbs = segmentLogSoftmax(Float32Array.from([1e4, 1e4]), Int32Array.from([0, 2]));
    expect(logProbs[0]).toBeCloseTo(-Math.LN2, 6);
  });

  test('leave an action of logit −∞ impossible', () => {
    const logProbs = segmentLogSoftmax(Float32Array.from([-Infinity, 1]), Int32Array.from([0, 2]));
    expect(Array.from(logProbs)).toEqual([-Infinity, 0]);
  });

  test('are refused for a state without actions, which is named', () => {
    const { code, message } = thrownBy(() => segmentLogSoftmax(Float32Array.from([1]), Int32Array.from([0, 1, 1])));
    expect(code).toBe('failure');
    expect(message).toContain('at state 1');
  });

  test.each([
    ['NaN', [0, NaN, 1]],
    ['+∞', [0, Infinity, 1]],
    ['nothing but −∞', [-Infinity, -Infinity]],
  ])('are refused for logits with %s', (_, logits) => {
    const error = thrownBy(() => segmentLogSoftmax(Float32Array.from(logits), Int32Array.from([0, logits.length])));
    expect(error.code).toBe('failure');
    expect(error.message).toContain('expected finite logits');
    expect(error.hint).toContain('learning rate');
  });
});

describe('entropy', () => {
  test('is ln n for equal logits and 0 for one action', () => {
    const offsets = Int32Array.from([0, 4, 5]);
    const entropy = segmentEntropy(segmentLogSoftmax(new Float32Array(5), offsets), offsets);
    expect(entropy[0]).toBeCloseTo(Math.log(4), 6);
    expect(entropy[1]).toBe(0);
  });

  test('never leaves [0, ln n]', () => {
    checkProperty(
      fc.property(ragged, ({ segments, offsets, logits }) => {
        segmentEntropy(segmentLogSoftmax(logits, offsets), offsets).forEach((value, s) => {
          expect(value).toBeGreaterThan(-1e-5);
          expect(value).toBeLessThan(Math.log(segments[s]!.length) + 1e-5);
        });
      }),
    );
  });
});

describe('choosing', () => {
  test('the most likely action is the first of equals, counted inside its state', () => {
    const logProbs = Float32Array.from([9, -2, -1, -3, -1]);
    expect(argmaxSegment(logProbs, 1, 5)).toBe(1);
    expect(argmaxSegment(logProbs, 3, 4)).toBe(0);
  });

  test('samples follow the probabilities', () => {
    const offsets = Int32Array.from([0, 1, 5]);
    const logProbs = segmentLogSoftmax(Float32Array.from([5, 0, Math.log(2), Math.log(3), Math.log(4)]), offsets);
    const rng = Rng.named(3, 'test/sampling');
    const counts = [0, 0, 0, 0];
    const draws = 20_000;
    for (let i = 0; i < draws; i++) counts[sampleSegment(logProbs, 1, 5, rng)]!++;
    counts.forEach((count, i) => {
      const share = (i + 1) / 10;
      const deviation = Math.sqrt((share * (1 - share)) / draws);
      expect(Math.abs(count / draws - share)).toBeLessThan(4 * deviation);
    });
  });

  test('an impossible action is never drawn, not even by rounding', () => {
    const logProbs = Float32Array.from([-Infinity, -1e-3, -Infinity]);
    const rng = Rng.named(3, 'test/impossible');
    const drawn = Array.from({ length: 5000 }, () => sampleSegment(logProbs, 0, 3, rng));
    expect(new Set(drawn)).toEqual(new Set([1]));
  });
});
