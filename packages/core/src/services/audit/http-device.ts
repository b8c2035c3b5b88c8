import { createHash } from 'node:crypto';
import { API_VERSION } from '@strongroom/engine-sdk';
import type { AuditDevice, AuditDevicePlugin } from './audit-device.ts';
import { BufferFolder } from './buffer-folder.ts';
import { BufferedDevice } from './buffered-device.ts';
import { HIDDEN_HEADERS, httpOptions, type HttpAuditOptions } from './http-options.ts';
import { HttpPoster, postLines } from './http-poster.ts';

/**
 * Type `http`: `uri`, `headers`, `write_timeout`, `tls_ca_cert`, `tls_client_cert`, `tls_client_key`, `tls_server_name`, `tls_skip_verify`; with
 * `buffer_path`, lines wait on disk while the receiver is away: `buffer_size`, `batch_size`, `flush_interval`.
 */
export const httpAudit: AuditDevicePlugin = {
  name: 'http',
  kind: 'audit',
  apiVersion: API_VERSION,
  check: (options) => void httpOptions(options),
  shown: (options) => (options['headers'] ? { ...options, headers: HIDDEN_HEADERS } : options),
  async open(options, { clock, log }) {
    const parsed = httpOptions(options);
    const poster = new HttpPoster(parsed, clock);
    if (!parsed.buffer) return new HttpDevice(poster);
    const folder = new BufferFolder(parsed.buffer.folder, prefixOf(parsed), { clock, log });
    const device = new BufferedDevice(parsed.buffer, { folder, poster, clock, log });
    await device.start();
    return device;
  },
};

/** Names the address in the buffer folder: what waits there goes to no other. */
function prefixOf({ uri }: HttpAuditOptions): string {
  return createHash('sha256').update(uri.href).digest('hex').slice(0, 16);
}

/** Each write is one request, which is answered before the write resolves. */
export class HttpDevice implements AuditDevice {
  readonly #poster: HttpPoster;

  constructor(poster: HttpPoster) {
    this.#poster = poster;
  }

  async write(lines: readonly string[]): Promise<void> {
    await postLines(this.#poster, lines);
  }

  reopen(): Promise<void> {
    this.#poster.reopen();
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#poster.close();
    return Promise.resolve();
  }
}
