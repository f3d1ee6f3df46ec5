/** A store in an S3 bucket, or on a server with its protocol. */
import { createReadStream, createWriteStream, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { env } from 'node:process';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { S3Client } from '@aws-sdk/client-s3';
import { WorkbenchError } from '../src/run/errors.js';
import { makeFolder } from '../src/run/files.js';
import type { Content, Store } from './folder-store.js';

/**
 * Loads optional packages, which the user installs.
 * @param what feature that needs them, with its article
 * @throws WorkbenchError `usage` with the command that installs them, if one is missing
 */
export async function withPackage<T>(what: string, names: readonly string[], load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new WorkbenchError('usage', `expected the packages that ${what} needs, got none`, {
      hint: `Run npm install ${names.join(' ')}.`,
      cause: error,
    });
  }
}

/**
 * Opens a bucket. Credentials and region come from the usual variables of AWS: `AWS_ACCESS_KEY_ID`, `AWS_PROFILE`, roles of machines,
 * `AWS_REGION`, and `AWS_ENDPOINT_URL` for other servers.
 * @param address `s3://BUCKET/PREFIX`
 */
export async function openS3Store(address: string): Promise<Store> {
  const [, bucket, folder = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w./=-]*))?$/.exec(address) ?? [];
  if (bucket === undefined) {
    throw new WorkbenchError('usage', `expected s3://BUCKET/PREFIX, got ${address}, at --store`, {
      hint: 'Buckets have small letters, digits, dots and dashes.',
    });
  }
  const prefix = folder === '' || folder.endsWith('/') ? folder : `${folder}/`;
  const s3 = await withPackage('a store s3://…', ['@aws-sdk/client-s3'], () => import('@aws-sdk/client-s3'));
  const endpoint = env.AWS_ENDPOINT_URL_S3 ?? env.AWS_ENDPOINT_URL;
  const client: S3Client = new s3.S3Client({
    region: env.AWS_REGION ?? env.AWS_DEFAULT_REGION ?? 'us-east-1',
    // Other servers seldom have a name for each bucket.
    forcePathStyle: endpoint !== undefined,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Tried again by `openStore`, which reads the file again; the client would warn of each that it cannot try again itself.
    maxAttempts: 1,
    logger: { trace() {}, debug() {}, info() {}, warn() {}, error() {} },
  });
  const at = (name: string) => ({ Bucket: bucket, Key: prefix + name });
  const statusOf = (error: unknown) => (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;

  async function put(name: string, content: Content, once: boolean): Promise<boolean> {
    const body =
      typeof content === 'string'
        ? { Body: content }
        : { Body: createReadStream(content.file), ContentLength: statSync(content.file).size };
    try {
      await client.send(new s3.PutObjectCommand({ ...at(name), ...body, IfNoneMatch: once ? '*' : undefined }));
      return true;
    } catch (error) {
      if (once && statusOf(error) === 412) return false;
      return refuse(error);
    } finally {
      if (typeof body.Body !== 'string') body.Body.destroy();
    }
  }

  async function get<T>(name: string, take: (body: Readable & { transformToString(): Promise<string> }) => Promise<T>) {
    try {
      const { Body } = await client.send(new s3.GetObjectCommand(at(name)));
      return await take(Body as Readable & { transformToString(): Promise<string> });
    } catch (error) {
      if (error instanceof s3.NoSuchKey || (error as Error).name === 'NoSuchKey') return undefined;
      return refuse(error);
    }
  }

  /** Throws; a retry does not help if access is refused or the bucket is missing. */
  function refuse(error: unknown): never {
    const { name, message } = error as Error;
    const status = statusOf(error);
    const isFinal = name === 'CredentialsProviderError' || [400, 401, 403, 404, 501].includes(status ?? 0);
    // What the client wraps says so in front.
    if (!isFinal) throw new Error(message.replace(/^AWS SDK error wrapper for Error: /, ''), { cause: error });
    throw new WorkbenchError(
      'usage',
      `expected a bucket that may be read and written, got ${name}: ${message}, at ${address}`,
      {
        hint: 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_REGION, and for another server AWS_ENDPOINT_URL.',
        cause: error,
        fatal: true,
      },
    );
  }

  return {
    address,
    read: (name) => get(name, (body) => body.transformToString()),
    async download(name, file) {
      makeFolder(dirname(file));
      const draft = `${file}.part`;
      try {
        const found = await get(name, async (body) => {
          await pipeline(body, createWriteStream(draft));
          return true;
        });
        if (found) renameSync(draft, file);
        return found ?? false;
      } finally {
        rmSync(draft, { force: true });
      }
    },
    async holds(name, file) {
      const head = await client.send(new s3.HeadObjectCommand(at(name))).catch(refuse);
      return head.ContentLength === statSync(file).size;
    },
    write: async (name, content) => void (await put(name, content, false)),
    writeOnce: (name, content) => put(name, content, true),
    async list(start) {
      const names: string[] = [];
      for (let ContinuationToken: string | undefined; ;) {
        const asked = new s3.ListObjectsV2Command({ Bucket: bucket, Prefix: prefix + start, ContinuationToken });
        const page = await client.send(asked).catch(refuse);
        names.push(
          ...(page.Contents ?? []).flatMap(({ Key }) => (Key === undefined ? [] : [Key.slice(prefix.length)])),
        );
        ContinuationToken = page.NextContinuationToken;
        if (!page.IsTruncated || ContinuationToken === undefined) return names.sort();
      }
    },
    remove: async (name) => void (await client.send(new s3.DeleteObjectCommand(at(name))).catch(refuse)),
  };
}
