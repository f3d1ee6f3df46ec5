/** From what stands behind `--model` to a language model. */
import { WorkbenchError } from '../run/errors.js';
import type { LanguageModel } from './language-model.js';
import { type LlamaModelOptions, openLlamaModel } from './llama-model.js';
import { modelFile } from './model-files.js';
import { openServerModel, type ServerModelOptions } from './server-model.js';

/** What either kind of model may be told. */
export interface OpenModelOptions {
  local?: LlamaModelOptions;
  server?: Omit<ServerModelOptions, 'baseUrl' | 'model'>;
}

/**
 * `http(s)://HOST/v1#MODEL` opens a server, anything else a local file, by path or by name. Simulated models are opened in
 * evaluation/, which alone may see the gold.
 * @throws WorkbenchError as `modelFile`, `usage` for a server without a model; what the model's own opening throws
 */
export async function openLanguageModel(spec: string, options: OpenModelOptions = {}): Promise<LanguageModel> {
  if (/^https?:\/\//i.test(spec)) {
    const mark = spec.indexOf('#');
    const [baseUrl, model] = mark < 0 ? [spec, ''] : [spec.slice(0, mark), spec.slice(mark + 1)];
    if (model === '') {
      throw new WorkbenchError('usage', 'expected a server and its model as URL#MODEL, got a URL without a model', {
        hint: 'For example http://127.0.0.1:8080/v1#qwen2.5-7b-instruct.',
      });
    }
    return openServerModel({ ...options.server, baseUrl, model });
  }
  return openLlamaModel(modelFile(spec), options.local);
}
