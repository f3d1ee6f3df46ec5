/** Requests to environments from a client that means harm, or has lost its place. */
import { PassThrough, Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { linkQueryId } from '../../envs/link-query/world.js';
import { makeVectorEnv } from '../../envs/registry.js';
import { frame, ops, readFrames } from '../../serve/env/frames.js';
import { EnvSession } from '../../serve/env/session.js';
import { serveClient } from '../../serve/env/transports.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { type Refusal, helloFrame, resetFrame, stepFrame } from '../fixtures/env-replies.js';
import { withstands } from '../fixtures/hostile.js';
import { noise, spoiltBytes, spoiltJson } from '../fixtures/spoilt.js';
import { tinyLinkWorld } from '../fixtures/tiny-links.js';

const { graph, train: queries } = tinyLinkWorld();

/** All that a server says to some bytes, frame by frame; it must end. */
async function answers(input: Iterable<Buffer>, numEnvs = 2): Promise<{ op: number; body: Buffer }[]> {
  const envs = makeVectorEnv(linkQueryId, { graph, queries }, numEnvs, 'sameStep');
  const output = new PassThrough();
  const read = (async () => {
    const replies = [];
    for await (const { op, body } of readFrames(output as AsyncIterable<Buffer>, 2 ** 24))
      replies.push({ op, body: Buffer.from(body) });
    return replies;
  })();
  const session = new EnvSession({ envs, autoreset: 'sameStep' });
  await serveClient(session, { input: Readable.from(input, { objectMode: false }), output });
  return read;
}

const talk = Buffer.concat([
  helloFrame({ columns: ['head', 'path', 'tails'], padded: true }),
  resetFrame({ seed: 3, options: [{ sample: 1 }, {}] }),
  stepFrame([2, 1]),
  stepFrame([-1, 2 ** 30]),
  frame(ops.close, []),
]);

test('for any input, each reply is complete, and an error names the problem', async () => {
  const bodies = fc.oneof(
    spoiltJson({ protocol: 1, columns: ['head'], padded: true }).map((text) => frame(ops.hello, [Buffer.from(text)])),
    spoiltJson({ seed: 3, options: [{ sample: 1 }, {}] }).map((text) =>
      Buffer.concat([helloFrame(), frame(ops.reset, [Buffer.from(text)])]),
    ),
    fc
      .tuple(fc.integer({ min: 0, max: 255 }), noise)
      .map(([op, body]) =>
        Buffer.concat([helloFrame(), resetFrame(), frame(op, [body.subarray(0, 60_000)]), resetFrame()]),
      ),
  );
  const inputs = fc.tuple(fc.oneof(noise, spoiltBytes(talk), bodies), fc.integer({ min: 1, max: 4096 }));
  await withstands(inputs, async ([bytes, size]) => {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
      bytes.subarray(i * size, (i + 1) * size),
    );
    const replies = await answers(chunks);
    const errors = replies
      .filter(({ op }) => op === ops.error)
      .map(({ body }) => JSON.parse(body.toString()) as Refusal);
    for (const { code, message } of errors) {
      expect(code).toMatch(/^(usage|data)$/);
      expect(message).toMatch(/^expected /);
    }
    if (errors.length > 0) throw new WorkbenchError('data', errors[0]!.message);
  });
});

describe('a server', () => {
  test('answers a talk in order, to the end', async () => {
    expect((await answers([talk])).map(({ op }) => op)).toEqual([ops.hello, ops.reset, ops.step, ops.error]);
  });

  test.each([0, 2 ** 32 - 1, 2 ** 16 + 512 + 1])('ends after a length of %d, reserving nothing', async (length) => {
    const lie = Buffer.alloc(5, 1);
    lie.writeUInt32LE(length);
    const before = process.memoryUsage().arrayBuffers;
    const replies = await answers([helloFrame(), lie, resetFrame()]);
    expect(replies.map(({ op }) => op)).toEqual([ops.hello, ops.error]);
    expect(replies[1]!.body.toString()).toContain(`got ${length}, at the length`);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 ** 24);
  });

  test('continues after an unknown op', async () => {
    const replies = await answers([helloFrame(), frame(77, [Buffer.alloc(9)]), resetFrame()]);
    expect(replies.map(({ op }) => op)).toEqual([ops.hello, ops.error, ops.reset]);
    expect(replies[1]!.body.toString()).toContain('got op 77');
  });

  test('ends without a word where a frame breaks off', async () => {
    expect(await answers([helloFrame().subarray(0, 9)])).toEqual([]);
  });

  test('reads frames that come byte by byte, and many in one piece', async () => {
    const bytes = [...talk].map((byte) => Buffer.of(byte));
    expect(await answers(bytes)).toEqual(await answers([talk]));
  });

  test('makes no more replies than are read: requests wait', async () => {
    const numEnvs = 512;
    const envs = makeVectorEnv(linkQueryId, { graph, queries }, numEnvs, 'sameStep');
    let resets = 0;
    const counted = new Proxy(envs, {
      get(target, key) {
        if (key === 'reset') resets++;
        const value = Reflect.get(target, key, target) as unknown;
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const output = new PassThrough();
    const flood = Array.from({ length: 400 }, () => resetFrame());
    const served = serveClient(new EnvSession({ envs: counted, autoreset: 'sameStep' }), {
      ...{ input: Readable.from([helloFrame(), ...flood], { objectMode: false }), output },
    });
    // Nothing is read: the buffered output stays bounded.
    await new Promise((resolve) => output.once('readable', resolve));
    for (let turn = 0; turn < 1000; turn++) await new Promise(setImmediate);
    expect(resets).toBeLessThan(20);
    output.resume();
    await served;
    expect(resets).toBe(400);
  });
});
