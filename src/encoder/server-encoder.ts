/**
 * Frozen text vectors of servers of the OpenAI API (`/v1/embeddings`). A server does not name its weights, so vectors
 * of fixed texts identify it.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isServerAddress, serverAndModel } from '../llm/model-files.js';
import {
  connectServer,
  type OptionalPart,
  ServerAway,
  type ServerPatience,
  ServerRefusal,
  type Wants,
} from '../llm/server-connection.js';
import { WorkbenchError } from '../run/errors.js';
import { throwIfStopped } from '../run/stop.js';
import { cachedEncoder, type TextEvaluator } from './cached-encoder.js';
import { openEncoderCache } from './encoder-cache.js';
import { wordPattern } from './hashed-encoder.js';
import { dot, normalizeL2, type StateEncoder } from './state-encoder.js';

interface ServerEncoderOptions {
  /** `http(s)://HOST/v1#MODEL`, several with commas between. */
  servers: string;
  normalize: boolean;
  cacheFolder: string;
  patience?: ServerPatience;
}

const embeddings: Wants = {
  what: 'vectors of texts',
  server: 'a server of text vectors',
  model: 'a model that embeds',
  path: '/embeddings',
  fits: 'a text',
  shorten: 'Lower encoder.windowTokens, encoder.lastMessageTokens or stateText.maxTokens.',
};

/** Texts a request, and requests under way at a server. */
const [textsAtOnce, requestsAtOnce] = [64, 4];
/** Turns of the cache after which the servers are looked at again. */
const lookEvery = 20;
/** Least cosine of two vectors of one text by the same model: its numbers differ in the last digits by machine and batch. */
const leastCosine = 0.999;
/** The same of what the cache remembers, to be one id: another quantisation differs more. */
const sameCosine = 0.99999;

/** Fixed texts, of which some differ in a word, some in everything. */
const probeTexts = [
  'a',
  'The bird sang.',
  'The bird sings.',
  'Who wrote the novel that the film is based on?',
  'Which film is based on a novel?',
  '1, 2, 3: 45 % of 678',
  'Ärger über Straße und Öl',
  'A much longer text, in which nothing happens but that words follow each other, one after the other, until it ends.',
] as const;

/**
 * Sends the probe to all servers at once; without any of them cached vectors are available. A budget counts words (runs
 * of letters and digits, and other characters). Texts computed again may differ in the last digits.
 * @throws WorkbenchError `usage` for bad addresses, `config` where no server was ever there, `data` where servers
 *   differ
 */
export async function openServerEncoder(options: ServerEncoderOptions): Promise<StateEncoder> {
  const { normalize, patience = {} } = options;
  const places = options.servers.split(',').map((one) => one.trim());
  if (!places.every(isServerAddress)) {
    throw new WorkbenchError('usage', 'expected servers as URL#MODEL with commas between, got something else');
  }
  const models = places.map(serverAndModel);
  const other = models.find(({ model }) => model !== models[0]!.model);
  if (other) {
    throw new WorkbenchError('usage', `expected servers of one model, got ${models[0]!.model} and ${other.model}`);
  }
  const servers = await Promise.all(models.map((one) => openServer({ ...patience, ...one })));
  const name = servers.map((server) => server.name).join(',');
  const cache = await openEncoderCache(options.cacheFolder);
  try {
    const known = remembered(cache.recall(`probe of ${name}`));
    const probe = await probed(servers, known);
    // What is kept under one id stays there, though a digit be rounded otherwise today.
    const same = known && (!probe || alike(known, probe, sameCosine));
    const looks = same ? known : probe!;
    if (!same && probe) await cache.remember(`probe of ${name}`, Buffer.from(joined(probe).buffer).toString('base64'));
    return cachedEncoder(evaluatorOf(servers, looks, normalize), cache, normalize);
  } catch (error) {
    await cache.close();
    throw error;
  }
}

type Server = ReturnType<typeof openServer>;

/** A server with what it was found to take: texts a request, and base64. */
function openServer(options: ServerPatience & { baseUrl: string; model: string }) {
  const server = connectServer({ ...options, wants: embeddings });
  return Object.assign(server, { most: textsAtOnce, base64: true });
}

/** Unit vectors of the probe's texts. */
type Probe = readonly Float32Array[];

/** @param known what the cache remembers, for servers that cannot be reached now */
async function probed(servers: readonly Server[], known: Probe | undefined) {
  const probes: Probe[] = [];
  for (const server of servers) {
    try {
      probes.push(await probeOf(server, known && { retries: 0 }));
    } catch (error) {
      // Other errors must be reported now.
      const away = error instanceof ServerAway || (error instanceof WorkbenchError && error.code === 'failure');
      if (!known || !away) throw error;
    }
  }
  const [probe] = probes;
  probes.forEach((one, i) => {
    if (!alike(probe!, one)) throw unlike(servers[i]!.name, `the vectors of ${servers[0]!.name}`, probe!, one);
  });
  return probe;
}

function evaluatorOf(servers: readonly Server[], looks: Probe, normalize: boolean): TextEvaluator {
  const { model } = servers[0]!;
  const checked = new Map(servers.map((server) => [server, server.failures]));
  let turns = 0;
  return {
    id: `server:${model}:${lookOf(looks)}:${normalize ? 'l2' : 'raw'}`,
    name: model,
    mode: 'server',
    place: servers.map((server) => server.name).join(','),
    ...{ dim: looks[0]!.length, contextLength: Infinity, reserved: 0, prefixBlock: 0 },
    mostTokens: () => Promise.resolve(Infinity),
    countTokens: (text) => Promise.resolve(text.match(wordPattern)?.length ?? 0),
    async evaluate(texts, { budget, signal, stopped, onVector, onSeconds }) {
      const batches = Array.from({ length: Math.ceil(texts.length / textsAtOnce) }, (_, i) => i * textsAtOnce);
      const started = performance.now();
      let failed: unknown;
      const well = new Set(servers);
      const take = async (server: Server) => {
        for (let at = batches.shift(); at !== undefined && !stopped(); at = batches.shift()) {
          const words = texts.slice(at, at + textsAtOnce).map((text) => newestWords(text, budget));
          try {
            const cut = words.map(({ text }) => text);
            const vectors = await vectorsOf(server, cut, signal);
            vectors.forEach((vector, i) => onVector(at! + i, { vector, evaluated: words[i]!.count, reused: 0 }));
          } catch (error) {
            failed ??= error;
            batches.push(at);
            well.delete(server);
            return;
          }
        }
      };
      // What one could not do is done by those who are left.
      while (batches.length > 0 && well.size > 0 && !stopped()) {
        const hands = [...well];
        await Promise.all(hands.flatMap((server) => Array.from({ length: requestsAtOnce }, () => take(server))));
      }
      onSeconds((performance.now() - started) / 1000);
      if (batches.length > 0 && !stopped()) throw failed as Error;
    },
    async check() {
      const due = ++turns % lookEvery === 0;
      for (const server of servers) {
        // One that was away may come back as another.
        if (!due && checked.get(server) === server.failures) continue;
        const now = await probeOf(server, { retries: 0 }).catch(() => undefined);
        if (!now) continue;
        if (!alike(looks, now)) throw unlike(server.name, 'the vectors of before', looks, now);
        checked.set(server, server.failures);
      }
    },
    dispose: () => Promise.resolve(),
  };
}

async function probeOf(server: Server, more: { retries?: number } = {}): Promise<Probe> {
  const vectors = await vectorsOf(server, probeTexts, undefined, more);
  return vectors.map((vector) => {
    const unit = Float32Array.from(vector);
    normalizeL2(unit);
    return unit;
  });
}

const replySchema = z.object({
  data: z.array(z.object({ index: z.int().min(0), embedding: z.union([z.string(), z.array(z.number())]) })),
});

/** In one request, or in halves where the server refuses as many texts. */
async function vectorsOf(
  server: Server,
  texts: readonly string[],
  signal: AbortSignal | undefined,
  more: { retries?: number } = {},
): Promise<Float32Array[]> {
  throwIfStopped(signal);
  const { name, model, post } = server;
  const middle = texts.length >>> 1;
  const inHalves = async () => [
    ...(await vectorsOf(server, texts.slice(0, middle), signal, more)),
    ...(await vectorsOf(server, texts.slice(middle), signal, more)),
  ];
  if (texts.length > server.most) return inHalves();
  let base64 = server.base64;
  const bodyOf = () => {
    ({ base64 } = server);
    return { model, input: texts, ...(base64 && { encoding_format: 'base64' }) };
  };
  const leaveOut = (part: OptionalPart) => part === 'encoding_format' && base64 && !(server.base64 = false);
  let reply: unknown;
  try {
    reply = await post('/embeddings', bodyOf, { signal, ...more, leaveOut });
  } catch (error) {
    if (!(error instanceof ServerRefusal) || error.code === 'config' || texts.length === 1) throw error;
    server.most = Math.min(server.most, middle);
    return inHalves();
  }
  const parsed = replySchema.safeParse(reply);
  const vectors: Float32Array[] = [];
  for (const { index, embedding } of parsed.data?.data ?? []) vectors[index] = numbersOf(embedding);
  const dim = vectors[0]?.length ?? 0;
  const whole = vectors.length === texts.length && texts.every((_, i) => vectors[i]?.length === dim);
  if (whole && dim > 0) return vectors;
  throw new WorkbenchError('config', `expected ${texts.length} vectors of one length, got something else, at ${name}`, {
    hint: 'Check that the URL ends where `/embeddings` begins, often in `/v1`, and that the model embeds.',
  });
}

/** Base64 of little-endian float32, or numbers for servers without base64. */
function numbersOf(embedding: string | number[]): Float32Array {
  if (typeof embedding !== 'string') return Float32Array.from(embedding);
  const bytes = Buffer.from(embedding, 'base64');
  return Float32Array.from({ length: bytes.length >> 2 }, (_, i) => bytes.readFloatLE(4 * i));
}

/** The end of a text that has at most so many words, and how many it has. */
function newestWords(text: string, budget: number): { text: string; count: number } {
  const words = [...text.matchAll(wordPattern)];
  if (words.length <= budget) return { text, count: words.length };
  return { text: text.slice(words[words.length - budget]!.index), count: budget };
}

function alike(one: Probe, other: Probe, least = leastCosine): boolean {
  return one[0]!.length === other[0]!.length && leastOf(one, other) >= least;
}

const leastOf = (one: Probe, other: Probe): number => Math.min(...one.map((vector, i) => dot(vector, other[i]!)));

/** The same for one model on all machines but by chance: cosines of all pairs to two digits, and the length of vectors. */
function lookOf(probe: Probe): string {
  const cosines = probe.flatMap((one, i) => probe.slice(i + 1).map((other) => dot(one, other).toFixed(2)));
  return createHash('sha256')
    .update(JSON.stringify([probe[0]!.length, cosines]))
    .digest('hex')
    .slice(0, 16);
}

function joined(probe: Probe): Float32Array<ArrayBuffer> {
  const all = new Float32Array(probe.length * probe[0]!.length);
  probe.forEach((vector, i) => all.set(vector, i * vector.length));
  return all;
}

function remembered(text: string | undefined): Probe | undefined {
  if (text === undefined) return undefined;
  const all = numbersOf(text);
  const dim = all.length / probeTexts.length;
  return probeTexts.map((_, i) => all.subarray(i * dim, (i + 1) * dim));
}

function unlike(name: string, expected: string, one: Probe, other: Probe): WorkbenchError {
  const [here, there] = [one[0]!.length, other[0]!.length];
  const got =
    here === there ? `others (cosine ${leastOf(one, other).toFixed(3)})` : `${there} numbers instead of ${here}`;
  return new WorkbenchError('data', `expected ${expected}, got ${got}, at ${name}`, {
    hint: 'Another model, quantisation or pooling answers there. Vectors of before are kept under what they were.',
    fatal: true,
  });
}
