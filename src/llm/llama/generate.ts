/** Writing a reply token by token, and telling how likely given replies are. */
import type {
  ControlledEvaluateInputItem,
  ControlledEvaluateIndexOutput,
  LlamaContextSequence,
  LlamaGrammarEvaluationState,
  Token,
} from 'node-llama-cpp';
import { throwIfStopped } from '../../run/stop.js';
import type { Completion, CompletionRequest } from '../language-model.js';
import { batchTokens, cutBack, evaluateInSteps } from './prefix-cache.js';

interface Generation {
  body: readonly Token[];
  request: Pick<CompletionRequest, 'maxTokens' | 'temperature' | 'seed' | 'signal'>;
  grammar: LlamaGrammarEvaluationState | undefined;
  /** Texts that end the reply; they are not part of it. */
  stops: readonly string[];
}

/**
 * Evaluates the body and writes the reply. Temperature 0 takes the likeliest token; else the whole distribution is
 * sampled by the request's seed.
 * @throws WorkbenchError `stopped`
 */
export async function generate(
  sequence: LlamaContextSequence,
  { body, request, grammar, stops }: Generation,
): Promise<Pick<Completion, 'text' | 'completionTokens' | 'stop'>> {
  const { model } = sequence;
  const lastStep = Math.floor((body.length - 1) / batchTokens) * batchTokens;
  await evaluateInSteps(sequence, body.slice(0, lastStep), request.signal);
  throwIfStopped(request.signal);

  const reply: Token[] = [];
  const text = () => model.detokenize(reply, false, body.slice(-8));
  const sampling = { temperature: request.temperature, seed: request.seed >>> 0, topK: 0, topP: 1, minP: 0 };
  const tokens = sequence.evaluate(body.slice(lastStep), {
    ...sampling,
    ...(grammar && { grammarEvaluationState: grammar }),
  });
  for await (const token of tokens) {
    throwIfStopped(request.signal);
    reply.push(token);
    if (!grammar && stops.length > 0) {
      const written = text();
      const end = Math.min(...stops.map((stop) => written.indexOf(stop)).filter((place) => place >= 0));
      if (end < Infinity) return { text: written.slice(0, end), completionTokens: reply.length, stop: 'end' };
    }
    if (reply.length >= request.maxTokens) return { text: text(), completionTokens: reply.length, stop: 'length' };
  }
  return { text: text(), completionTokens: reply.length, stop: 'end' };
}

/**
 * Log-probability of each choice (its tokens) as the beginning of the reply: the sum over its tokens, by the model's own
 * distribution. The body is evaluated once.
 * @throws WorkbenchError `stopped`
 */
export async function scoreTokens(
  sequence: LlamaContextSequence,
  body: readonly Token[],
  choices: readonly (readonly Token[])[],
  signal: AbortSignal | undefined,
): Promise<Float64Array> {
  const lastStep = Math.floor((body.length - 1) / batchTokens) * batchTokens;
  await evaluateInSteps(sequence, body.slice(0, lastStep), signal);
  throwIfStopped(signal);
  const firsts = [...new Set(choices.flatMap((choice) => choice.slice(0, 1)))];
  const last = body.slice(lastStep);
  const prompt = await sequence.controlledEvaluate([...last.slice(0, -1), asked(last.at(-1)!, firsts)]);
  const afterPrompt = prompt[last.length - 1];

  const length = sequence.nextTokenIndex;
  const logProbs = new Float64Array(choices.length);
  for (const [place, choice] of choices.entries()) {
    throwIfStopped(signal);
    if (choice.length === 0) continue;
    let sum = logProb(afterPrompt, choice[0]!);
    if (choice.length > 1) {
      const steps = choice.slice(0, -1).map((token, step) => asked(token, [choice[step + 1]!]));
      const outputs = await sequence.controlledEvaluate(steps);
      for (let step = 1; step < choice.length; step++) sum += logProb(outputs[step - 1], choice[step]!);
      await cutBack(sequence, length);
    }
    logProbs[place] = sum;
  }
  return logProbs;
}

/** A token to evaluate, with the logits of those that may follow and what it takes to normalise them. */
function asked(token: Token, followers: readonly Token[]): ControlledEvaluateInputItem {
  // `includeMax` of the library adds the maximum only where it is there already; `includeTop` always does.
  const logits = { filter: { tokens: followers, includeTop: 1 } };
  return [token, { generateNext: { logits, totalLogitWeight: true } }];
}

function logProb(output: ControlledEvaluateIndexOutput | undefined, token: Token): number {
  const { logits, totalLogitWeight } = output!.next;
  const highest = Math.max(...logits!.values());
  return logits!.get(token)! - highest - Math.log(totalLogitWeight!);
}
