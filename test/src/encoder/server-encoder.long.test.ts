/** A run whose encoder is a server. */
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { kgwalk, kgwalkJson } from '../../fixtures/command-line.js';
import { embeddingServer } from '../../fixtures/embedding-server.js';
import { useOwnHome } from '../../fixtures/own-home.js';
import { folderWith, releaseFiles } from '../../fixtures/tiny-release.js';
import { tinyOverrides } from '../../fixtures/tiny-training.js';

useOwnHome();

test('a run is trained and evaluated with one, and again without it', async () => {
  const server = await embeddingServer(32);
  await kgwalk('datasets', 'import', 'opendialkg', '--from', folderWith(releaseFiles));
  const own = tinyOverrides.filter((one) => !one.startsWith('encoder.model'));
  const short = ['transe.enabled=false', 'clone.epochs=1', 'clone.batchSize=16', 'ppo.updates=1'];
  const sets = [...own, ...short].flatMap((one) => ['--set', one]);
  const folder = join(folderWith({}), 'run');
  const trained = await kgwalk('train', 'opendialkg-tiny', ...sets, '--model', server.spec, '--run-dir', folder);
  expect(trained).toMatchObject({
    exitCode: 0,
    err: expect.stringContaining(`texts encoded by ${server.spec}`) as unknown,
  });
  const figures = () => kgwalkJson<{ metrics: object }>('evaluate', folder, '--split', 'valid');
  const { metrics } = await figures();
  await server.stop();
  expect((await figures()).metrics).toEqual(metrics);
});
