/** `kgwalk models bench`: rates of a model on this machine, by the same code that agents and encoders use. */
import { rmSync } from 'node:fs';
import { basename } from 'node:path';
import { openEncoder } from '../../src/encoder/open-encoder.js';
import { encoderSettings } from '../../src/encoder/settings.js';
import type { AnswerDecision } from '../../src/llm/decision.js';
import { readChatModelFile } from '../../src/llm/gguf/model-facts.js';
import type { CompletionRequest, LanguageModel } from '../../src/llm/language-model.js';
import { openLlamaModel } from '../../src/llm/llama-model.js';
import { modelFile } from '../../src/llm/model-files.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { ProgressReporter } from '../../src/run/progress.js';
import { throwIfStopped } from '../../src/run/stop.js';
import { wholeNumber } from '../../tasks/flags.js';
import { printJson, printLine, printTable } from '../output.js';
import { terminalWork } from '../terminal.js';
import { temporaryFolder } from '../../src/run/files.js';

interface BenchFlags {
  threads?: string;
  gpu?: boolean;
  repeats: string;
  json?: boolean;
}

interface Rate {
  /** Median over the repeats; tokens a second. */
  tokensPerSecond: number;
  /** Tokens of one measurement, and threads. */
  tokens: number;
  threads: number | 'one a core, at most 4';
}

/** Tokens that prompts have about, and that replies have at most. */
const promptWords = 200;
const replyTokens = 48;
/** Texts that are encoded at once. */
const texts = 16;

/** Measures and prints; a sentence encoder has no rates of prompts and replies. */
export async function bench(spec: string, { gpu = false, json, ...flags }: BenchFlags): Promise<void> {
  const threads = wholeNumber(flags.threads, '--threads', 1, 1000);
  const repeats = wholeNumber(flags.repeats, '--repeats', 1, 1000);
  const file = modelFile(spec);
  const { progress, signal } = terminalWork();
  const device = gpu ? 'auto' : 'off';
  const options = { file, device, threads, repeats, progress, signal } as const;
  const rates: Partial<Record<'prompt' | 'reply' | 'encode', Rate>> = {
    ...((await writesText(file)) && (await replies(options))),
    encode: await encoding(options),
  };
  if (json) return printJson({ file, gpu: device, repeats, ...rates });
  const where = gpu ? 'with a graphics card where there is one' : 'on the processor alone';
  printLine(`${basename(file)}, ${where}, median of ${repeats}`);
  printTable(
    Object.entries(rates).map(([what, { tokensPerSecond, tokens, threads }]) => ({
      what,
      'tokens/s': Number(tokensPerSecond.toPrecision(3)),
      tokens,
      threads: String(threads),
    })),
  );
}

interface Measured {
  file: string;
  device: 'off' | 'auto';
  threads: number | undefined;
  repeats: number;
  progress: ProgressReporter;
  signal: AbortSignal;
}

/** Generates one token and then many per prompt: the difference is the time of generation. */
async function replies({ file, device, threads = 1, repeats, progress, signal }: Measured) {
  const model = await openLlamaModel(file, { gpu: device, threads });
  const line = progress('prompts and replies', repeats + 1, 'repeats');
  try {
    const reading: number[] = [];
    const writing: number[] = [];
    let [prompt, reply] = [0, 0];
    // The first finds the memory cold, and does not count.
    for (let i = 0; i <= repeats; i++) {
      throwIfStopped(signal);
      const short = await timed(model, request(i, 1));
      const long = await timed(model, request(i, replyTokens));
      line.update(i + 1);
      if (i === 0) continue;
      prompt = short.promptTokens - short.cachedTokens;
      reading.push(prompt / short.seconds);
      const more = long.completionTokens - short.completionTokens;
      if (more <= 0 || long.seconds <= short.seconds) continue;
      reply = more;
      writing.push(more / (long.seconds - short.seconds));
    }
    return {
      prompt: { tokensPerSecond: median(reading), tokens: prompt, threads },
      ...(writing.length > 0 && { reply: { tokensPerSecond: median(writing), tokens: reply, threads } }),
    };
  } finally {
    line.finish();
    await model.dispose();
  }
}

async function timed(model: LanguageModel, asked: CompletionRequest) {
  const started = performance.now();
  const completion = await model.complete(asked);
  return { ...completion, seconds: (performance.now() - started) / 1000 };
}

function request(number: number, maxTokens: number): CompletionRequest {
  const question = `Tell a long story about all of this.`;
  const decision: AnswerDecision = {
    ...{ kind: 'answer', phase: 'bench', questionId: 'bench', question, task: '', examples: [], evidence: [] },
    form: 'entities',
    withReasoning: false,
  };
  const body = `${words(number, promptWords)}\n\n${question}`;
  return { system: '', head: '', body, maxTokens, temperature: 0, seed: 0, attempt: 0, decision };
}

async function encoding({ file, device, threads, repeats, progress, signal }: Measured): Promise<Rate> {
  // Vectors that a cache holds would not be measured: this one is new.
  const cacheFolder = temporaryFolder('bench');
  const settings = encoderSettings.parse({ gpu: device, ...(threads !== undefined && { workers: threads }) });
  const encoder = await openEncoder(settings, { modelPath: file, cacheFolder });
  const line = progress('text vectors', repeats + 1, 'repeats');
  try {
    const rates: number[] = [];
    let tokens = 0;
    for (let i = 0; i <= repeats; i++) {
      throwIfStopped(signal);
      const before = encoder.counters.tokens;
      const started = performance.now();
      await encoder.encode(
        Array.from({ length: texts }, (_, j) => words(1000 + i * texts + j, 32)),
        { signal },
      );
      const seconds = (performance.now() - started) / 1000;
      line.update(i + 1);
      tokens = encoder.counters.tokens - before;
      if (i > 0) rates.push(tokens / seconds);
    }
    return { tokensPerSecond: median(rates), tokens, threads: threads ?? 'one a core, at most 4' };
  } finally {
    line.finish();
    await encoder.dispose();
    rmSync(cacheFolder, { recursive: true, force: true });
  }
}

/** A text of so many short words, another for every number. */
function words(number: number, count: number): string {
  const list = 'river north song old walks to the house of stone and reads a letter'.split(' ');
  const place = (i: number) => (i * (1 + (number % 13)) + number) % list.length;
  return [number, ...Array.from({ length: count }, (_, i) => list[place(i)])].join(' ');
}

async function writesText(file: string): Promise<boolean> {
  try {
    await readChatModelFile(file);
    return true;
  } catch (error) {
    // The encoder refuses files that are no model at all.
    if (error instanceof WorkbenchError && error.code === 'data') return false;
    throw error;
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
