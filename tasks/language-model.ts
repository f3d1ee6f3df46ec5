/** A real language model, as `--model` and `--model-set` name it: a file or a server. */
import { once } from 'node:events';
import { z } from 'zod';
import { oracleRates } from '../evaluation/oracle/open-oracle.js';
import type { LanguageModel, Usage } from '../src/llm/language-model.js';
import { defaultModel, embeddedModelName } from '../src/llm/model-files.js';
import { loadConfig } from '../src/run/config.js';
import { WorkbenchError } from '../src/run/errors.js';
import type { AgentFlags, Choices } from './flags.js';
import type { Work } from './task.js';

const prices = /^\d*\.?\d+(?:,\d*\.?\d+){2,3}$/;

const replyTokens = z
  .int()
  .min(1)
  .optional()
  .describe('least tokens that a reply may take, for models that think first; default by decision');

const sampling = {
  temperature: z.number().min(0).optional().describe('of sampling; default 0'),
  topP: z.number().gt(0).max(1).optional().describe('nucleus sampling; default 1, of servers their own'),
  repeats: z
    .int()
    .min(1)
    .default(1)
    .describe('how often each sample is asked, for models that do not answer twice alike'),
};

const localSettings = z.strictObject({
  ...sampling,
  gpu: z.enum(['off', 'auto']).default('off').describe('whether a graphics card is used where there is one'),
  gpuLayers: z.int().min(0).optional().describe('layers on the card; default as many as fit'),
  threads: z.int().min(1).default(1).describe('processor threads'),
  adapter: z
    .string()
    .optional()
    .describe('GGUF file of low-rank matrices for the model, such as one of `checkpoint export RUN --to FILE.gguf`'),
  contextLength: z.int().min(64).optional().describe('tokens of prompt and reply'),
  replyTokens,
  heads: z.int().min(1).default(8).describe('prompt heads kept evaluated; each costs memory for a whole context'),
  sequences: z
    .int()
    .min(1)
    .default(1)
    .describe('requests side by side; with more than 1 replies may differ in rare ties'),
});

const serverSettings = z.strictObject({
  contextLength: z.int().min(64).default(8192).describe('tokens of prompt and reply, which servers do not report'),
  replyTokens,
  reasoning: z.enum(['auto', 'off']).default('auto').describe('off asks the model not to think'),
  ...sampling,
  extra: z.record(z.string(), z.unknown()).optional().describe('further fields of every request, as JSON'),
  price: z
    .string()
    .regex(prices)
    .optional()
    .describe(
      'price of a million tokens of prompts, cached prompts, replies, and if given of an hour of a processor core',
    ),
  rpm: z.number().gt(0).optional().describe('requests a minute, at most'),
  tpm: z.number().gt(0).optional().describe('tokens of prompts and replies a minute, at most'),
  concurrency: z.int().min(1).default(4).describe('requests under way at once, fewer while the server is busy'),
  retries: z.int().min(0).default(6).describe('further tries after a failure that may pass'),
  timeoutMs: z.int().min(1).default(300_000).describe('milliseconds for one try'),
});

/** The settings that decide what tokens cost, whatever else is set. @throws WorkbenchError `config` for what is no price */
export function settingsOfPrice(set: readonly string[]) {
  const overrides = set.filter((one) => /^\s*(?:price|replyTokens|repeats)\s*=/.test(one));
  return loadConfig(serverSettings.pick({ price: true, replyTokens: true, repeats: true }), {
    overrides,
    place: '--model-set',
  });
}

/**
 * Prices of tokens and of a second of a processor core by `--model-set price=IN,CACHED,OUT[,HOUR]`, tokens by the million; undefined
 * without, and 0 for processors without HOUR.
 */
export function pricesOf(set: readonly string[]) {
  const { price } = settingsOfPrice(set);
  if (price === undefined) return undefined;
  const [fresh, cached, written, hour = 0] = price.split(',').map(Number) as [number, number, number, number?];
  return {
    of: ({ promptTokens, cachedTokens, completionTokens }: Usage) =>
      ((promptTokens - cachedTokens) * fresh + cachedTokens * cached + completionTokens * written) / 1e6,
    processorSecond: hour / 3600,
  };
}

/** Time that a server may take to respond. Milliseconds. */
const firstContact = 10_000;

/**
 * Opens a file or a server, which is looked for at once.
 * @param set `key=value` of `--model-set`
 * @param choices whether a server is tried for log-probabilities: only likelihood has a use for them
 * @param note called with what the server refuses, once for each part of requests
 * @throws WorkbenchError `usage` for what is no model, `config` for settings it lacks, `failure` for a server that is not there; what
 *   opening it throws
 */
export async function openRealModel(
  spec: string,
  set: readonly string[],
  choices: Choices | undefined,
  { note }: Pick<Work, 'note'>,
): Promise<LanguageModel> {
  const { openLanguageModel } = await import('../src/llm/model-files.js');
  const overrides = { overrides: set, place: '--model-set' };
  if (!/^https?:/i.test(spec)) {
    const { replyTokens: maxTokens, ...local } = loadConfig(localSettings, overrides);
    return withRoom(await openLanguageModel(spec, { local: { ...local, maxTokens } }));
  }
  const { replyTokens: maxTokens, price: _, ...settings } = loadConfig(serverSettings, overrides);
  const server = { ...settings, maxTokens, note };
  const model = withRoom(await openLanguageModel(spec, { server }));
  await reach(spec.replace(/#.*$/s, ''));
  return choices === 'likelihood' ? openLanguageModel(spec, { server: { ...server, scores: true } }) : model;
}

/** @throws WorkbenchError `usage` for a simulated model, which stands in for none where there is nothing that it knows */
export function refuseSimulated(spec: string, flag: string): void {
  if (oracleRates(spec) === undefined) return;
  throw new WorkbenchError('usage', `expected a real model, got ${spec}, at ${flag}`, {
    hint: 'A simulated model knows the answers of data sets, and nothing else.',
  });
}

/** @throws WorkbenchError `config` for replies that may take more than half of the context */
function withRoom(model: LanguageModel): LanguageModel {
  const { maxTokens = 0, contextLength } = model;
  if (maxTokens <= contextLength / 2) return model;
  const message = `expected replyTokens of at most half of the context (${contextLength}), got ${maxTokens}`;
  throw new WorkbenchError('config', `${message}, at --model-set`, {
    hint: `Set contextLength=${2 * maxTokens} too, if the model has so many.`,
  });
}

/** The way to choose: as given, else by likelihood with the embedded model, which was trained for it, and written with others. */
export const usualChoices = ({ choices, model = defaultModel() }: AgentFlags): Choices =>
  choices ?? (model === embeddedModelName ? 'likelihood' : 'written');

/**
 * The model that is asked where none was named: the embedded one, which standard error says.
 * @param whose who needs it, such as `agent fiske`
 * @throws WorkbenchError `usage` where an installation lacks it
 */
export function embeddedChatModel(whose: string, { note }: Pick<Work, 'note'>): string {
  const model = defaultModel();
  if (model === undefined) {
    throw new WorkbenchError('usage', `expected a language model for ${whose}, got none, at --model`, {
      hint: 'Such as --model FILE.gguf, --model http://HOST:PORT/v1#NAME or, simulated, --model oracle:0.',
    });
  }
  note(`model: ${model}, which comes with the package and knows the demo data alone; others: kgwalk models list`);
  return model;
}

/** Connects and hangs up: the first request shows the rest. */
async function reach(address: string): Promise<void> {
  const { connect } = await import('node:net');
  const { hostname, port, protocol } = new URL(address);
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = connect({ host, port: Number(port) || (protocol === 'https:' ? 443 : 80) });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(firstContact) });
  } catch (error) {
    const { name, code, message } = error as NodeJS.ErrnoException;
    const reason = name === 'AbortError' ? 'no connection in time' : (code ?? message);
    throw new WorkbenchError('failure', `expected a server, got no answer (${reason}), at ${address}`, {
      hint: 'Start it, or check host and port.',
    });
  } finally {
    socket.destroy();
  }
}
