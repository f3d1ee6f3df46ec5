/** Routes of the live page: the page, its data as JSON, and live events. Read-only. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { getCookie, setCookie } from 'hono/cookie';
import { secureHeaders } from 'hono/secure-headers';
import { streamSSE } from 'hono/streaming';
import { settingDifferences, settingsByKey } from '../src/run/config-values.js';
import { type ErrorCode, WorkbenchError } from '../src/run/errors.js';
import { parseJson } from '../src/run/read-json.js';
import { masked } from '../src/run/secrets.js';
import type { ShownRun } from './api.js';
import { openActor } from './actor.js';
import { askedOf, openAsker } from './asker.js';
import { Busy, longestRequest } from './kept-runs.js';
import { followedLogs, mostStreams, type Pace, sendLive } from './live.js';
import { openPageFiles } from './page-files.js';
import { openResults } from './results.js';
import { checkpointNames, readPlacedRun, type World } from './runs.js';
import { openSuggestions } from './suggestions.js';

/** Dependencies of the routes. */
interface AppOptions {
  world: World;
  /** Listening address. */
  host: string;
  /** Token required of clients; absent on loopback. */
  token?: string | undefined;
  pace: Pace;
  /** Aborted when the server closes; ends streams, each with a last look. */
  signal: AbortSignal;
  /** Called with internal errors, not client errors. */
  onBug(error: unknown): void;
}

const cookieName = 'kgwalk';

/** HTTP status by error code. */
const statusOf: Readonly<Record<ErrorCode, 400 | 409 | 422 | 500 | 501>> = {
  ...{ usage: 400, config: 400, data: 422, stopped: 409, native: 501, failure: 500 },
};

/** Only the page's own scripts and styles run; text from data never does. */
const contentSecurityPolicy = {
  ...{ defaultSrc: ["'self'"], imgSrc: ["'self'", 'data:'], formAction: ["'self'"] },
  ...{ baseUri: ["'none'"], frameAncestors: ["'none'"], objectSrc: ["'none'"] },
};

/** The app, without a socket. */
export function createApp({ world, host, token, pace, signal, onBug }: AppOptions) {
  const app = new Hono<{ Bindings: HttpBindings }>();
  const results = openResults(world);
  const files = openPageFiles();
  const asker = openAsker(world);
  const actor = openActor(world);
  const suggestions = openSuggestions(world);
  const streams = new Set<Promise<unknown>>();

  app.use(secureHeaders({ contentSecurityPolicy, strictTransportSecurity: false, xFrameOptions: 'DENY' }));
  app.use(ownName(host));
  if (token !== undefined) app.use(withToken(token));

  app.onError((error, c) => {
    // Errors while answering become error replies; the server keeps running.
    if (error instanceof Busy) return refusal(c, error, 503);
    if (error instanceof WorkbenchError)
      return refusal(c, error, c.req.method === 'POST' ? askStatus(error) : statusOf[error.code]);
    onBug(error);
    return refusal(c, new WorkbenchError('failure', 'this is a bug of kgwalk; the terminal says more'), 500);
  });
  app.notFound((c) =>
    refusal(c, new WorkbenchError('usage', `expected an address of this server, got ${c.req.path}`), 404),
  );

  for (const [path, { type, body }] of files) {
    app.get(path, (c) => c.body(body, 200, { 'Content-Type': type, 'Cache-Control': 'no-cache' }));
  }

  app.get('/api/list', (c) => {
    const { places, runs } = world.look();
    const sweeps = [...places.values()].filter(({ kind }) => kind === 'sweep').map(({ key }) => ({ key }));
    return c.json({ folders: world.roots, runs, sweeps });
  });
  app.get('/api/run', async (c) => {
    const run = readPlacedRun(world.place(c.req.query('run') ?? '', 'run'));
    const { started, versions, backend } = run.environment;
    const shown: ShownRun = {
      ...{ id: run.id, state: run.state, settings: settingsByKey(run.config), started, versions, backend },
      checkpoints: checkpointNames(run.folder),
      asked: await askedOf(run.folder),
    };
    return c.json(shown);
  });
  app.get('/api/questions', async (c) => c.json(await suggestions.suggestions(c.req.query())));
  app.get('/api/entities', async (c) => c.json(await suggestions.entities(c.req.query())));
  app.get('/api/settings', (c) => {
    const keys = severalRuns(c);
    const runs = keys.map((key) => readPlacedRun(world.place(key, 'run')));
    return c.json({ runs: keys, differences: settingDifferences(runs.map(({ config }) => config)) });
  });
  app.get('/api/results', (c) => c.json({ sets: results.sets() }));
  app.get('/api/examples', (c) => c.json(results.examples(c.req.query('evaluation') ?? '')));
  app.get('/api/compare', async (c) => {
    const keys = c.req.queries('evaluation') ?? [];
    const against = c.req.query('against') ?? keys.at(-1) ?? '';
    return c.json(await results.compare(keys, against, c.req.query('mixed') === 'true'));
  });
  const limited = bodyLimit({ maxSize: longestRequest, onError: tooLong });
  app.post('/ask', limited, async (c) => c.json(await asker.ask(await jsonOf(c))));
  app.post('/api/act', limited, async (c) => c.json(await actor.act(await jsonOf(c))));
  app.get('/api/live', (c) => {
    if (streams.size >= mostStreams)
      throw new Busy('usage', `expected at most ${mostStreams} streams, got more, at /api/live`);
    const followed = followedLogs(world, c.req.queries('run') ?? [], c.req.header('Last-Event-ID'));
    const open = once(c.env.outgoing, 'close').finally(() => streams.delete(open));
    streams.add(open);
    return streamSSE(
      c,
      (stream) => sendLive(stream, world, followed, pace, signal),
      async (error) => onBug(error),
    );
  });

  return {
    fetch: app.fetch,
    get streams(): number {
      return streams.size;
    },
    /** Waits for the streams that `signal` ends. */
    ended: () => Promise.allSettled(streams),
    close: () => Promise.all([asker, actor, suggestions].map((one) => one.close())),
  };
}

const askStatus = ({ code }: WorkbenchError) => (code === 'data' ? 400 : statusOf[code]);

const tooLong = (c: Context) =>
  refusal(c, new WorkbenchError('usage', `expected at most ${longestRequest} bytes, got more, at ${c.req.path}`), 413);

/** Requires JSON: another site can send forms and plain text without a preflight, but no JSON. */
async function jsonOf(c: Context): Promise<unknown> {
  const place = c.req.path;
  if (/^application\/json\b/i.test(c.req.header('Content-Type') ?? ''))
    return parseJson(await c.req.text(), { what: 'a question in JSON', place });
  throw new WorkbenchError('usage', `expected JSON, got another Content-Type, at ${place}`, {
    hint: 'Content-Type: application/json',
  });
}

function severalRuns(c: Context): string[] {
  const keys = c.req.queries('run') ?? [];
  if (keys.length > 1) return keys;
  throw new WorkbenchError('usage', `expected two runs or more, got ${keys.length}`, { hint: '?run=KEY&run=KEY' });
}

/** Errors as JSON, as with `--json`; secrets in URLs and paths are masked. */
function refusal(
  c: Context,
  { code, message, hint }: WorkbenchError,
  status: 400 | 401 | 403 | 404 | 409 | 413 | 422 | 500 | 501 | 503,
) {
  const error = { code, message: masked(message), hint: hint === undefined ? undefined : masked(hint) };
  return c.json({ error }, status);
}

function ownName(host: string): MiddlewareHandler {
  return async (c, next) => {
    const asked = c.req.header('Host');
    const refuse = (message: string) => refusal(c, new WorkbenchError('usage', message), 403);
    if (!isOwnName(asked, host)) return refuse(`expected a name of this machine, got ${String(asked)}, at Host`);
    // Rejects questions from other sites, which can send requests although they cannot read the replies.
    const origin = c.req.header('Origin');
    if (origin !== undefined && origin !== `http://${asked}`)
      return refuse(`expected a page of this server, got one of ${origin}`);
    // Embedded pictures, scripts and styles lack the header; `Sec-Fetch-Site` covers those.
    const site = c.req.header('Sec-Fetch-Site') ?? 'none';
    const follows = c.req.header('Sec-Fetch-Mode') === 'navigate' && c.req.path === '/';
    if (!['same-origin', 'none'].includes(site) && !follows)
      return refuse(`expected a page of this server, got one that is ${site}`);
    return next();
  };
}

/** The token as `Authorization: Bearer`, as a cookie, or once in the URL, which sets the cookie. */
function withToken(token: string): MiddlewareHandler {
  return async (c, next) => {
    const [, bearer] = /^Bearer (.+)$/.exec(c.req.header('Authorization') ?? '') ?? [];
    if (isToken(bearer, token) || isToken(getCookie(c, cookieName), token)) return next();
    if (c.req.path === '/' && isToken(c.req.query('token'), token)) {
      setCookie(c, cookieName, token, { httpOnly: true, sameSite: 'Strict', path: '/' });
      return c.redirect('/');
    }
    const hint = 'Open the address that `kgwalk serve` printed, or send the header Authorization: Bearer TOKEN.';
    const message = 'expected the token of this server, got none or another';
    return refusal(c, new WorkbenchError('usage', message, { hint }), 401);
  };
}

/** True for loopback addresses: `localhost`, 127.0.0.0/8, `::1`. */
export const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);

/** A random secret of 192 bits, URL-safe. */
export const newToken = (): string => randomBytes(24).toString('base64url');

/** Compares a text with the token in constant time. */
export function isToken(given: string | undefined, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return given !== undefined && timingSafeEqual(digest(given), digest(token));
}

/**
 * Checks the `Host` header of a request. Another site can point its own name at 127.0.0.1 (DNS rebinding), so a
 * loopback server answers to loopback names only.
 * @param bound listening address; beyond loopback every name is accepted, because the token protects it
 */
export function isOwnName(header: string | undefined, bound: string): boolean {
  if (header === undefined) return false;
  return !isLoopback(bound) || isLoopback(header.replace(/:\d{1,5}$/, ''));
}
