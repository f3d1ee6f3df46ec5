/** The HTTP server: the only place that listens. */
import type { Server } from 'node:http';
import { setTimeout as later } from 'node:timers/promises';
import { createAdaptorServer } from '@hono/node-server';
import { WorkbenchError } from '../src/run/errors.js';
import { createApp, isLoopback, newToken } from './app.js';
import { openWorld } from './runs.js';

/** Listening address and content. */
interface ServeOptions {
  /** Folders of runs, or folders that contain some. */
  roots: readonly string[];
  /** Default 127.0.0.1: this machine only. Any other address requires a token. */
  host?: string;
  /** 0: any free port. */
  port: number;
  /** Polling interval of files, in milliseconds. Default 500. */
  lookMs?: number;
  /** Timeout for request headers, and a third of the timeout for whole requests, in milliseconds. Default 10,000. */
  patienceMs?: number;
  /** Called with internal errors. Default: ignored. */
  onBug?: (error: unknown) => void;
}

/** Maximum connections; a browser uses six and its streams. Further ones are closed at once. */
export const mostConnections = 256;

/** Longest time that a closing server waits for its streams, in milliseconds. */
const longestFarewellMs = 1000;

/** A server that listens; close it after use. */
export interface Serving {
  /** URL for a browser; beyond loopback it contains the token. */
  url: string;
  port: number;
  token: string | undefined;
  readonly streams: number;
  /** Sends streams what is new, then closes all connections; does not wait for clients that do not read. */
  close(): Promise<void>;
}

/** Starts listening. @throws WorkbenchError `usage` for a port that is taken or not permitted, or an address of another machine */
export async function serve(options: ServeOptions): Promise<Serving> {
  const { roots, host = '127.0.0.1', port, lookMs = 500, patienceMs = 10_000, onBug = () => {} } = options;
  const token = isLoopback(host) ? undefined : newToken();
  const ending = new AbortController();
  const world = openWorld(roots, lookMs);
  const pace = { lookMs, aliveMs: 15_000 };
  const app = createApp({ world, host, token, pace, signal: ending.signal, onBug });
  const serverOptions = {
    headersTimeout: patienceMs,
    requestTimeout: 3 * patienceMs,
    connectionsCheckingInterval: patienceMs / 4,
  };
  const server = createAdaptorServer({ fetch: app.fetch, serverOptions }) as Server;
  server.maxConnections = mostConnections;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, host, port)));
    server.listen({ port, host }, resolve);
  });
  const taken = (server.address() as { port: number }).port;
  const base = `http://${host.includes(':') ? `[${host}]` : host}:${taken}/`;
  return {
    url: token === undefined ? base : `${base}?token=${token}`,
    port: taken,
    token,
    get streams() {
      return app.streams;
    },
    async close() {
      ending.abort();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.race([app.ended(), later(longestFarewellMs, undefined, { ref: false })]);
      server.closeAllConnections();
      await Promise.all([closed, app.close()]);
    },
  };
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): unknown {
  const refused = (expected: string, got: string, hint: string) =>
    new WorkbenchError('usage', `expected ${expected}, got ${got}`, { hint, cause: error });
  if (error.code === 'EADDRINUSE') {
    return refused(
      'a free port',
      `${port}, which another program listens on`,
      `Is it a page of before? Open http://${host}:${port}/, or choose another: --port ${port < 65_535 ? port + 1 : 8765}, or --port 0 for any.`,
    );
  }
  if (error.code === 'EACCES') {
    return refused(
      'a port that you may use',
      String(port),
      'Ports below 1024 are the system’s: choose a higher --port.',
    );
  }
  if (['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EINVAL'].includes(error.code ?? '')) {
    return refused(
      'an address of this machine',
      host,
      '--host 127.0.0.1 is this machine alone, 0.0.0.0 every address of it.',
    );
  }
  return error;
}
