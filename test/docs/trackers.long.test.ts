import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { env } from 'node:process';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { folderWith } from '../fixtures/tiny-release.js';
import { examplesOf } from './examples.js';
import { runsAsWritten } from './page-run.js';
import { shrinkCode } from './stand-ins.js';
import { runTypeScript } from './typescript-examples.js';

/** Requests that MLflow's server accepts, by the tables of its REST reference; unknown fields and odd names are refused. */
const key = z.string().regex(/^[\w\-.: /]+$/);
const takes: Record<string, z.ZodType> = {
  'runs/create': z.strictObject({ experiment_id: z.string(), run_name: z.string(), start_time: z.int() }),
  'runs/log-batch': z.strictObject({
    run_id: z.literal('r1'),
    params: z
      .array(z.strictObject({ key, value: z.string() }))
      .max(100)
      .optional(),
    metrics: z
      .array(z.strictObject({ key, value: z.number(), timestamp: z.int(), step: z.int() }))
      .max(1000)
      .optional(),
  }),
  'runs/update': z.strictObject({ run_id: z.literal('r1'), status: z.literal('FINISHED'), end_time: z.int() }),
};

const asked: { path: string; body: { metrics?: { key: string; step: number }[]; params?: unknown[] } }[] = [];
let server: Server;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const path = request.url!.replace('/api/2.0/mlflow/', '');
    const text = (await request.toArray()).join('');
    const body = takes[path]?.safeParse(JSON.parse(text));
    if (!body?.success) return response.writeHead(400).end(String(body?.error ?? `no endpoint ${request.url}`));
    asked.push({ path, body: body.data as object });
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(path === 'runs/create' ? { run: { info: { run_id: 'r1' } } } : {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  env.MLFLOW_TRACKING_URI = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  delete env.MLFLOW_TRACKING_URI;
  await new Promise((resolve) => server.close(resolve));
});

const page = 'docs/how-to/trackers.md';
const [wandb] = examplesOf(page).filter(({ language }) => language === 'js');

runsAsWritten('docs/how-to/trackers.md', {
  prints: { 'Stopping by a custom rule': /^\d+(\.\d+)?$/m, MLflow: /^$/ },
  saves: { 'Weights & Biases': ['in-wandb.mjs'] },
});

describe('reports to trackers', () => {
  test('MLflow: a run with its settings, every step of its metrics in order, and its end', () => {
    expect(asked.map(({ path }) => path)).toEqual([
      'runs/create',
      ...Array.from({ length: asked.length - 2 }, () => 'runs/log-batch'),
      'runs/update',
    ]);
    expect(asked[1]!.body.params).toContainEqual({ key: 'totalSteps', value: expect.any(String) });
    const rows = asked.flatMap(({ body }) => body.metrics ?? []);
    const steps = rows.filter((row) => row.key === 'train/loss').map(({ step }) => step);
    expect(steps.length).toBeGreaterThan(1);
    expect(steps).toEqual([...steps.keys()].map((i) => i + 1));
    expect(rows.some((row) => row.key === 'eval/return')).toBe(true);
  });

  test('Weights & Biases: rows with their step, between init and finish', async () => {
    // Stands in for the package, which is not among ours: what its README says it has.
    const folder = folderWith({});
    const client = join(folder, 'wandb.mjs');
    writeFileSync(
      client,
      `const said = [];
       export default {
         said,
         init: async (options) => void said.push(['init', Object.keys(options)]),
         log: (row) => void said.push(['log', row]),
         finish: async () => console.log(JSON.stringify([...said, ['finish']])),
       };`,
    );
    const written = shrinkCode(wandb!.text).replace("'@wandb/sdk'", `'${client}'`);
    const printed = await runTypeScript(written.replace("'runs/in-wandb'", `'${join(folder, 'run')}'`));
    const said = JSON.parse(printed) as [string, Record<string, number>?][];
    expect(said[0]).toEqual(['init', ['project', 'config']]);
    expect(said.at(-1)).toEqual(['finish']);
    expect(said.slice(1, -1).every(([what]) => what === 'log')).toBe(true);
    expect(said[1]![1]).toMatchObject({ 'ppo/step': expect.any(Number), 'train/loss': expect.any(Number) });
  });
});
