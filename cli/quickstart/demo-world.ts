/** The data sets of the quickstart: made, or reused where they were made before. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { datasetFolder } from '../../datasets/imported-dataset.js';
import { manifestFileName } from '../../datasets/dialogues/dialogue-dataset.js';
import type { Watch } from '../watch.js';

const names = ['demo', 'demo-questions'];

/** What is there already stays, whatever it was made with: runs tell by its hashes when it is not theirs. */
export async function demoWorld({ progress }: Watch): Promise<{ note: string; reused: boolean }> {
  if (names.every((name) => existsSync(join(datasetFolder(name), manifestFileName)))) {
    return { note: `reusing ${names.join(' and ')}, made before`, reused: true };
  }
  const { importDemo } = await import('../../datasets/demo/import.js');
  await importDemo({ progress });
  return { note: `made ${names.join(' and ')}`, reused: false };
}
