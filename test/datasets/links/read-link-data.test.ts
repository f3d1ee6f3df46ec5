import { describe, expect, test } from '@jest/globals';
import { readLinkData } from '../../../datasets/links/read-splits.js';
import { folderWith } from '../../fixtures/tiny-release.js';

describe('readLinkData', () => {
  const toy = {
    'train.txt': 'x\tr\ty\ny\ts\tz\nx\tr\ty\n',
    'valid.txt': 'z\tr\tx\n',
    'test.txt': 'w\tq\tx\n',
  };

  test('numbers names by first appearance in train, valid and test', async () => {
    const { graph, train, test: judged } = await readLinkData(folderWith(toy), 'toy');
    expect(graph.name).toBe('toy');
    expect(graph.entityNames).toEqual(['x', 'y', 'z', 'w']);
    expect(graph.relationNames).toEqual(['r', 's', 'q', '~r', '~s', '~q']);
    expect([...train.heads]).toEqual([0, 1]);
    expect([judged.heads[0], judged.relations[0], judged.tails[0]]).toEqual([3, 2, 0]);
  });

  test('walks the edges of train alone, both ways', async () => {
    const { graph } = await readLinkData(folderWith(toy), 'toy');
    expect(graph.numEdges).toBe(4);
    expect(graph.edgeIndex(1, 3, 0)).toBeGreaterThanOrEqual(0);
    expect(graph.degree(3)).toBe(0);
  });

  test('refuses a training file without triples, and triples without valid and test', async () => {
    const bare = folderWith({ ...toy, 'train.txt': '' });
    await expect(readLinkData(bare, 'none')).rejects.toThrow(/expected triples, got none/);
    const alone = folderWith({ 'train.txt': 'a\tr\tb\n' });
    await expect(readLinkData(alone, 'none')).rejects.toThrow(/expected train, valid and test, got train\.txt alone/);
  });
});
