/** Tokens of a model's file, without its weights. */
import { openLlama, refusal } from '../llama-library.js';
import { plainHead } from './layouts.js';
import { commonLength } from './prefix-cache.js';

/** Tokenizer of plain texts; nothing in them is read as special tokens. */
export interface Vocabulary {
  /** Tokens of a text's beginning, with the model's start token where it has one. */
  beginning(text: string): number[];
  /** Tokens of a text that continues another one. */
  continued(text: string): number[];
  /** The same where the text begins with a space or a sign: those that differ from the tokens of `before`. */
  following(before: string, text: string): number[];
  dispose(): Promise<void>;
}

/** @throws WorkbenchError `native` without node-llama-cpp, `data` for a file that it refuses */
export async function openVocabulary(modelPath: string): Promise<Vocabulary> {
  const llama = await openLlama('off');
  const model = await llama.loadModel({ modelPath, vocabOnly: true }).catch(refusal(modelPath));
  const continued = (text: string) => (text === '' ? [] : [...model.tokenize(text, false, 'trimLeadingSpace')]);
  return {
    beginning: (text) => [...plainHead(model, text)],
    continued,
    following(before, text) {
      const [alone, joint] = [continued(before), continued(before + text)];
      return joint.slice(commonLength(alone, joint, alone.length));
    },
    dispose: () => model.dispose(),
  };
}
