import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from '@jest/globals';
import fc from 'fast-check';
import { importLinks } from '../../datasets/links/import-links.js';
import { linkStatistics } from '../../datasets/links/link-statistics.js';
import { loadLinkDataset } from '../../datasets/links/link-dataset.js';
import { withstands } from '../fixtures/hostile.js';
import { hostileBytes } from '../fixtures/spoilt.js';
import { tinyLinkFiles } from '../fixtures/tiny-links.js';
import { folderWith } from '../fixtures/tiny-release.js';

const home = mkdtempSync(join(tmpdir(), 'kgwalk-hostile-'));

test.each(['train.txt', 'test.txt', 'entity2text.txt'])(
  'link data with a spoilt %s is imported and read, or refused with its place',
  async (file) => {
    const from = folderWith(tinyLinkFiles);
    const inputs = fc.record({ bytes: hostileBytes(tinyLinkFiles[file]!), allowOverlap: fc.boolean() });
    const read = async ({ bytes, allowOverlap }: { bytes: Buffer; allowOverlap: boolean }) => {
      writeFileSync(join(from, file), bytes);
      await importLinks({ from, name: 'links', home, allowOverlap });
      const dataset = await loadLinkDataset('links', { home });
      return [dataset.labels, linkStatistics(dataset)];
    };
    await withstands(inputs, read, { place: from, runs: [60, 3000] });
  },
);
