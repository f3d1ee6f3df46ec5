import { expect, test } from '@jest/globals';
import { networkSize } from '../../trainers/network-size.js';
import { trainSettings } from '../../trainers/train-settings.js';

const sizeOf = (sections: object) => networkSize(trainSettings.parse(sections), 576);

test('the size of networks goes by the texts that a state brings: two of a dialogue, or its own', () => {
  const dialogue = sizeOf({ walker: { width: 256 } });
  expect(dialogue).toMatchObject({ inputs: 2 * 576, units: 256 });
  expect(sizeOf({ walker: { width: 256 }, stateText: { encode: 'per-step' } })).toEqual({ ...dialogue, inputs: 576 });
});
