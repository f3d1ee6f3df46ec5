/** Transports of requests and replies: standard input and output, or a Unix socket. */
import { chmodSync, existsSync, statSync, unlinkSync } from 'node:fs';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import process from 'node:process';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { WorkbenchError } from '../../src/run/errors.js';
import { errorBody, type Frame, frame, ops, readFrames } from './frames.js';
import { EnvSession, type ServedEnv } from './session.js';

/** Answers to one client. */
export interface Session {
  /** Maximum bytes of a request. */
  readonly longest: number;
  /** The reply; undefined ends it. */
  answer(request: Frame): Buffer | undefined | Promise<Buffer | undefined>;
  close(): void;
}

/** Serves one client until it closes or disconnects; an unreadable frame is answered by an error, and is the last. */
export async function serveClient(
  session: Session,
  { input, output, signal }: { input: Readable; output: Writable; signal?: AbortSignal },
): Promise<void> {
  async function* replies(chunks: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
    try {
      for await (const request of readFrames(chunks as AsyncIterable<Buffer>, session.longest)) {
        const reply = await session.answer(request);
        if (!reply) return;
        yield reply;
      }
    } catch (error) {
      if (!(error instanceof WorkbenchError)) throw error;
      yield frame(ops.error, [errorBody(error)]);
    }
  }
  try {
    await pipeline(input, replies, output, { signal });
  } catch (error) {
    // The client has disconnected; the error has no receiver.
    if (!gone.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    session.close();
  }
}

const gone = new Set(['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE', 'ABORT_ERR']);

/** One client that started this program; the program ends with it. */
export async function serveStdio(session: Session, signal: AbortSignal): Promise<void> {
  await serveClient(session, { input: process.stdin, output: process.stdout, signal });
}

/** Maximum concurrent clients; each has separate environments. */
const mostClients = 16;

/**
 * Serves clients concurrently until the signal is aborted. Only the user can connect: the socket has mode 0600.
 * @param onReady called once clients can connect
 * @throws WorkbenchError `usage` if another file is at the path, or another server listens there
 */
export async function serveSocket(
  made: () => ServedEnv,
  path: string,
  { signal, onReady }: { signal: AbortSignal; onReady(): void },
): Promise<void> {
  await removeDeadSocket(path);
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    clients.add(client);
    client.on('error', () => client.destroy());
    client.on('close', () => clients.delete(client));
    let session: EnvSession;
    try {
      session = new EnvSession(made());
    } catch (error) {
      client.end(frame(ops.error, [errorBody(error)]));
      return;
    }
    serveClient(session, { input: client, output: client }).catch((error: unknown) => client.destroy(error as Error));
  });
  server.maxConnections = mostClients;
  const before = process.umask(0o177);
  try {
    server.listen(path);
    await once(server, 'listening');
  } catch (cause) {
    throw new WorkbenchError(
      'usage',
      `expected a path for a socket, got ${(cause as Error).message}, at --socket ${path}`,
      { cause },
    );
  } finally {
    process.umask(before);
  }
  chmodSync(path, 0o600);
  onReady();
  if (!signal.aborted) await once(signal, 'abort');
  for (const client of clients) client.destroy();
  server.close();
}

async function removeDeadSocket(path: string): Promise<void> {
  if (!existsSync(path)) return;
  const refuse = (what: string) =>
    new WorkbenchError('usage', `expected a free path, got ${what}, at --socket ${path}`, {
      hint: 'Name another path.',
    });
  if (!statSync(path).isSocket()) throw refuse('a file that is no socket');
  const probe = connect(path);
  const listens = await new Promise<boolean>((resolve) => {
    probe.once('connect', () => resolve(true)).once('error', () => resolve(false));
  });
  probe.destroy();
  if (listens) throw refuse('the socket of another server');
  unlinkSync(path);
}
