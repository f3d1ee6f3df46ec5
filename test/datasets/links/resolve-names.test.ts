import { beforeAll, describe, expect, test } from '@jest/globals';
import { importLinks } from '../../../datasets/links/import-links.js';
import { loadLinkDataset, type LinkDataset } from '../../../datasets/links/link-dataset.js';
import { resolveEntity, resolveRelation } from '../../../datasets/links/resolve-names.js';
import { tinyLinkFiles } from '../../fixtures/tiny-links.js';
import { folderWith } from '../../fixtures/tiny-release.js';

let dataset: LinkDataset;

beforeAll(async () => {
  const home = folderWith({});
  // The id of one entity is the name of another.
  const names = `${tinyLinkFiles['entity2text.txt']}p9\tc0\n`;
  await importLinks({ from: folderWith({ ...tinyLinkFiles, 'entity2text.txt': names }), name: 'tiny', home });
  dataset = await loadLinkDataset('tiny', { home });
});

describe('resolveEntity', () => {
  test.each([
    ['an id', 'p3', 'p3'],
    ['an id before a name', 'c0', 'c0'],
    ['a name', 'Ada Quill', 'p0'],
    ['a name in other letters', 'the ada  QUILL', 'p0'],
  ])('%s', (_, text, id) => {
    expect(dataset.graph.entityName(resolveEntity(dataset, text))).toBe(id);
  });

  test('lists the ids of several with one name', () => {
    expect(() => resolveEntity(dataset, 'Milton')).toThrow('expected one entity, got "Milton", the name of 2: t1, t2');
  });

  test.each([
    ['Ada Quil', 'Did you mean "Ada Quill"?'],
    ['Marsh', 'Did you mean "Dot Marsh"?'],
    ['ivy', 'Did you mean "Ivy Stone"?'],
    ['Byron the Great', 'Give its id or its name.'],
    ['', 'Give its id or its name.'],
    // No index: ids are names of the source.
    ['3', 'Give its id or its name.'],
  ])('refuses %j', (text, hint) => {
    expect(() => resolveEntity(dataset, text)).toThrow(
      expect.objectContaining({ code: 'usage', message: `expected an entity of tiny, got "${text}"`, hint }),
    );
  });
});

describe('resolveRelation', () => {
  test('knows relations and their inverses', () => {
    expect(resolveRelation(dataset, 'lies_in')).toBe(2);
    expect(resolveRelation(dataset, '~lies_in')).toBe(6);
  });

  test.each([
    ['lys_in', 'Did you mean "lies_in"?'],
    ['citizen', 'Did you mean "citizen_of"?'],
    ['zen_of', 'Did you mean "citizen_of" or "~citizen_of"?'],
    ['directed_by', 'Relations: `kgwalk datasets stats`.'],
  ])('refuses %s', (text, hint) => {
    expect(() => resolveRelation(dataset, text)).toThrow(expect.objectContaining({ code: 'usage', hint }));
  });
});
