import { createHash } from 'node:crypto';
import type { CompletedPart, S3Client } from '@aws-sdk/client-s3';
import { UpstreamFailed, type SnapshotPlace, type SnapshotStorage, type StagedSnapshot, type StoredSnapshot } from '@strongroom/engine-sdk';
import { s3Error } from './s3-error.ts';
import { bucketSettings, endpointOf, type BucketSettings } from './settings.ts';

type Sdk = typeof import('@aws-sdk/client-s3');

/** S3 takes parts of 5 MiB and more, and 10,000 of them. */
const PART = 16 * 2 ** 20;
/** Milliseconds. */
const CONNECTING = 10_000;
const ANSWERING = 120_000;
/** For what is removed after a failure, whose own signal may be aborted. */
const CLEANING = 30_000;
/** Objects that are listed at most. */
const MOST = 10_000;

/** Loads the SDK at the first use. */
export async function openBucket(place: SnapshotPlace): Promise<SnapshotStorage> {
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  const sdk = await import('@aws-sdk/client-s3');
  const settings = bucketSettings(place);
  const { aws_access_key_id: id, aws_secret_access_key: secret, aws_session_token: session } = settings;
  const endpoint = endpointOf(settings);
  const client = new sdk.S3Client({
    region: settings.aws_s3_region,
    // A part that fails is sent again; a snapshot that fails is the schedule's business.
    maxAttempts: 3,
    requestHandler: { connectionTimeout: CONNECTING, requestTimeout: ANSWERING, throwOnRequestTimeout: true },
    forcePathStyle: settings.aws_s3_force_path_style ?? false,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(id === undefined || secret === undefined
      ? {}
      : { credentials: { accessKeyId: id, secretAccessKey: secret, ...(session === undefined ? {} : { sessionToken: session }) } }),
  });
  return new Bucket(sdk, client, place);
}

/** A bucket, or a part of one. A snapshot is a multipart upload until it is committed. */
class Bucket implements SnapshotStorage {
  readonly #sdk: Sdk;
  readonly #client: S3Client;
  readonly #settings: BucketSettings;
  readonly #folder: string;
  readonly #filePrefix: string;

  constructor(sdk: Sdk, client: S3Client, place: SnapshotPlace) {
    this.#sdk = sdk;
    this.#client = client;
    this.#settings = bucketSettings(place);
    const folder = place.pathPrefix.replace(/^\//, '');
    this.#folder = folder === '' || folder.endsWith('/') ? folder : `${folder}/`;
    this.#filePrefix = place.filePrefix;
  }

  url(name: string): string {
    const endpoint = endpointOf(this.#settings);
    const path = `${this.#bucket}/${this.#folder}${name}`;
    return endpoint === undefined ? `s3://${path}` : `${endpoint.replace(/\/$/, '')}/${path}`;
  }

  async list(signal: AbortSignal): Promise<StoredSnapshot[]> {
    return this.#said(signal, async (options) => {
      const found: StoredSnapshot[] = [];
      let token: string | undefined;
      do {
        const page = await this.#client.send(
          new this.#sdk.ListObjectsV2Command({ Bucket: this.#bucket, Prefix: this.#folder + this.#filePrefix, ContinuationToken: token }),
          options,
        );
        for (const { Key: key = '', Size: bytes = 0 } of page.Contents ?? []) found.push({ name: key.slice(this.#folder.length), bytes });
        token = page.IsTruncated ? page.NextContinuationToken : undefined;
        if (token !== undefined && found.length >= MOST) throw new UpstreamFailed(`${this.#where} has more than ${MOST} snapshots`);
      } while (token !== undefined);
      return found;
    });
  }

  async write(name: string, pieces: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<StagedSnapshot> {
    return this.#said(signal, async (options) => {
      const { aws_s3_enable_kms: kms, aws_s3_kms_key: key, aws_s3_server_side_encryption: aes } = this.#settings;
      const upload = { Bucket: this.#bucket, Key: this.#folder + name };
      const begun = await this.#client.send(
        new this.#sdk.CreateMultipartUploadCommand({
          ...upload,
          ContentType: 'application/gzip',
          ...(kms ? { ServerSideEncryption: 'aws:kms', ...(key === undefined ? {} : { SSEKMSKeyId: key }) } : {}),
          ...(aes ? { ServerSideEncryption: 'AES256' } : {}),
        }),
        options,
      );
      const UploadId = begun.UploadId!;
      const discard = async (): Promise<void> => {
        const limit = AbortSignal.timeout(CLEANING);
        await this.#said(limit, async (own) =>
          this.#client.send(new this.#sdk.AbortMultipartUploadCommand({ ...upload, UploadId }), own),
        ).catch((error: unknown) => {
          if ((error as { cause?: { name?: string } }).cause?.name !== 'NoSuchUpload') throw error;
        });
      };
      const hash = createHash('sha256');
      const parts: CompletedPart[] = [];
      let bytes = 0;
      try {
        for await (const part of inParts(pieces)) {
          signal.throwIfAborted();
          hash.update(part);
          bytes += part.length;
          const PartNumber = parts.length + 1;
          const { ETag, ChecksumCRC32 } = await this.#client.send(
            new this.#sdk.UploadPartCommand({ ...upload, UploadId, PartNumber, Body: part }),
            options,
          );
          parts.push({ ETag, PartNumber, ...(ChecksumCRC32 === undefined ? {} : { ChecksumCRC32 }) });
        }
        signal.throwIfAborted();
      } catch (error) {
        await discard().catch(() => undefined);
        throw error;
      }
      const digest = hash.digest();
      const commit = async (limit: AbortSignal): Promise<void> =>
        this.#said(limit, async (own) => {
          try {
            await this.#client.send(
              new this.#sdk.CompleteMultipartUploadCommand({ ...upload, UploadId, MultipartUpload: { Parts: parts } }),
              own,
            );
            if (!digest.equals(await this.#digestOf(name, limit)))
              throw new UpstreamFailed(`${this.#where} did not store the snapshot as it was written`);
          } catch (error) {
            await this.clear(name, AbortSignal.timeout(CLEANING)).catch(() => undefined);
            throw error;
          }
        });
      return { bytes, commit, discard };
    });
  }

  async remove(name: string, signal: AbortSignal): Promise<void> {
    await this.#said(signal, async (options) =>
      this.#client.send(new this.#sdk.DeleteObjectCommand({ Bucket: this.#bucket, Key: this.#folder + name }), options),
    );
  }

  async clear(name: string, signal: AbortSignal): Promise<void> {
    const Key = this.#folder + name;
    await this.#said(signal, async (options) => {
      const { Uploads: uploads = [] } = await this.#client.send(
        new this.#sdk.ListMultipartUploadsCommand({ Bucket: this.#bucket, Prefix: Key }),
        options,
      );
      for (const upload of uploads) {
        if (upload.Key !== Key) continue;
        await this.#client.send(
          new this.#sdk.AbortMultipartUploadCommand({ Bucket: this.#bucket, Key, UploadId: upload.UploadId }),
          options,
        );
      }
    });
    await this.remove(name, signal);
  }

  close(): void {
    this.#client.destroy();
  }

  get #bucket(): string {
    return this.#settings.aws_s3_bucket;
  }

  get #where(): string {
    return `the bucket ${this.#bucket}`;
  }

  async #digestOf(name: string, signal: AbortSignal): Promise<Buffer> {
    const { Body: body } = await this.#client.send(new this.#sdk.GetObjectCommand({ Bucket: this.#bucket, Key: this.#folder + name }), {
      abortSignal: signal,
    });
    const hash = createHash('sha256');
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      signal.throwIfAborted();
      hash.update(piece);
    }
    return hash.digest();
  }

  async #said<T>(signal: AbortSignal, work: (options: { abortSignal: AbortSignal }) => Promise<T>): Promise<T> {
    try {
      signal.throwIfAborted();
      return await work({ abortSignal: signal });
    } catch (error) {
      signal.throwIfAborted();
      const { aws_secret_access_key, aws_session_token } = this.#settings;
      throw s3Error(error, this.#where, { aws_secret_access_key, aws_session_token });
    }
  }
}

/** The same bytes in parts of one size; the last may be smaller, and there is at least one. */
async function* inParts(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let held: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length;) {
      const taken = piece.subarray(at, at + PART - size);
      held.push(taken);
      size += taken.length;
      at += taken.length;
      if (size < PART) continue;
      yield Buffer.concat(held, size);
      held = [];
      size = 0;
    }
  }
  if (size > 0) yield Buffer.concat(held, size);
}
