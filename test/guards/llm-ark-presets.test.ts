/** LLM-ARK's ablations, each as a preset: what sets them apart is what they ablate, and nothing else. */
import { expect, test } from '@jest/globals';
import { loadPreset } from '../../presets/index.js';
import { diffConfig } from '../../src/run/config-values.js';
import { checkTrainSettings } from '../../trainers/check-settings.js';
import { dialogues } from '../../tasks/dialogues/index.js';

const ablations = {
  ui: ['stateText.template'],
  bf16: ['walker.precision'],
  wt: [
    'transe.enabled',
    ...['walker.componentDim', 'walker.entityInit', 'walker.entityVectors', 'walker.relationVectors'],
  ],
  // Logits of places need an end of the list of actions.
  wp: ['env.edgePolicy', 'walker.pathAware'],
};

test.each(Object.entries(ablations))(
  'B-ARK-5: the ablation %s has the samples, the seed and the training of the preset that it is compared with',
  (name, keys) => {
    const [full, ablated] = ['llm-ark-2024', `llm-ark-2024-${name}`].map((preset) => loadPreset(preset));
    expect(diffConfig(full, ablated)).toEqual([...keys, 'name'].sort());
    for (const settings of [full!, ablated!])
      expect(() => checkTrainSettings(dialogues.learning, settings, false)).not.toThrow();
  },
);
