import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Type, type Static } from 'typebox';
import { BadRequest, InternalError, type Clock, type Collection, type ErrorForm, type Log, type StorageView } from '@strongroom/engine-sdk';
import type { AuditDevicePlugin } from './audit-device.ts';
import type { AuditEntry } from './audit-entry.ts';
import { AuditFormatter, auditFormat } from './audit-formatter.ts';
import { AuditQueue, type Full, type QueueLimits, type QueueStatus } from './audit-queue.ts';
import { AuditedHeaders } from './audited-headers.ts';

const DeviceRecord = Type.Object({
  type: Type.String(),
  description: Type.String(),
  options: Type.Record(Type.String(), Type.String()),
  local: Type.Boolean(),
  salt: Type.String(),
});
type DeviceRecord = Static<typeof DeviceRecord>;
const SaltRecord = Type.Object({ salt: Type.String() });

/** What an operator says about a device. */
export interface AuditDeviceConfig {
  readonly type: string;
  readonly description?: string;
  readonly options?: Readonly<Record<string, string>>;
  readonly local?: boolean;
}

/** A device as `GET sys/audit` shows it. */
export interface AuditDeviceInfo {
  /** With a closing slash, as all paths here. */
  path: string;
  type: string;
  description: string;
  options: Record<string, string>;
  local: boolean;
  status: QueueStatus;
}

/** How a device fares, for metrics. */
export interface AuditFigures extends QueueStatus {
  readonly path: string;
  readonly type: string;
  /** Since the start of this process; a write may have several lines. */
  readonly writes: number;
  readonly seconds: number;
}

export interface AuditBrokerOptions {
  /** Below `core/audit/`. */
  readonly storage: StorageView;
  readonly clock: Clock;
  readonly log: Log;
  readonly plugins: readonly AuditDevicePlugin[];
  /** Devices of the server's configuration, by path; the API cannot remove them. */
  readonly configured?: Readonly<Record<string, AuditDeviceConfig>>;
  /** False refuses new devices by API. */
  readonly apiCreation?: boolean;
  /** Stored devices that are dropped at `load`: the way out when the only device is broken for good. */
  readonly emergencyDisable?: readonly string[];
  readonly limits?: Partial<QueueLimits>;
}

interface Device {
  readonly record: DeviceRecord;
  readonly formatter: AuditFormatter;
  readonly queue: AuditQueue;
  readonly configured: boolean;
}

const DEVICES = 'device/';
/** What the caller learns, and what everybody may know. */
const FULL: Readonly<Record<Full, { readonly refused: string; readonly warning: string }>> = {
  disk: {
    refused: 'the request cannot be audited: no space is left on the disk of an audit device',
    warning: 'an audit device cannot write: no space is left on its disk',
  },
  buffer: {
    refused: 'the request cannot be audited: the buffer of an audit device is full',
    warning: 'an audit device cannot write: its buffer is full',
  },
};
const defaultLimits: QueueLimits = { lines: 10_000, bytes: 64 << 20, deadlineMillis: 5000 };

/** No device could write the request: it must not be carried out. */
export class RequestNotAudited extends InternalError {}

/** No device could write the answer: it must not be sent. What was done stays done. */
export class ResponseNotAudited extends InternalError {
  override readonly form: ErrorForm = 'plain';
}

/**
 * Writes every request and every answer to every device, and refuses the call when there are devices and none could write.
 * Devices that work are waited for; one that hangs is waited for up to its deadline once, and then no more until it goes on.
 */
export class AuditBroker {
  readonly headers: AuditedHeaders;
  readonly #options: AuditBrokerOptions;
  readonly #limits: QueueLimits;
  readonly #records: Collection<DeviceRecord>;
  readonly #devices = new Map<string, Device>();
  #changes: Promise<unknown> = Promise.resolve();

  constructor(options: AuditBrokerOptions) {
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#records = options.storage.collection(DEVICES, DeviceRecord, { cached: true });
    this.headers = new AuditedHeaders(options.storage);
    for (const [path, config] of Object.entries(options.configured ?? {})) {
      if (name(path) === '') throw new BadRequest('an audit device needs a path');
      this.#check(config);
    }
  }

  /** False: there are no devices, and entries need not even be made. */
  get enabled(): boolean {
    return this.#devices.size > 0;
  }

  /** After unsealing. A device that cannot be opened is in the list all the same: requests are refused until one can write. */
  async load(): Promise<void> {
    const { configured = {}, emergencyDisable = [], log } = this.#options;
    await this.headers.load().catch((error: Error) => log.error('the audited headers cannot be read', { error: error.message }));
    for (const path of emergencyDisable) {
      await this.#records.delete(name(path));
      log.warn('audit device was removed by the configuration', { device: `${name(path)}/` });
    }
    for (const [path, config] of Object.entries(configured)) {
      const id = name(path);
      this.#add(id, newRecord(config, await this.#configuredSalt(id)), true);
    }
    for (const id of await this.#records.list()) {
      if (this.#devices.has(id)) log.warn('a stored audit device is hidden by the configuration', { device: `${id}/` });
      else await this.#addStored(id);
    }
  }

  /** @throws RequestNotAudited */
  request(entry: AuditEntry): Promise<void> {
    return this.#write(entry, () => new RequestNotAudited(this.#full()?.refused));
  }

  /** The entry carries `response`. @throws ResponseNotAudited */
  response(entry: AuditEntry): Promise<void> {
    return this.#write(entry, () => new ResponseNotAudited(this.#full()?.refused));
  }

  /** Adds a device once it has taken a test line. @throws BadRequest */
  enable(path: string, config: AuditDeviceConfig): Promise<void> {
    return this.#change(async () => {
      if (this.#options.apiCreation === false) {
        throw new BadRequest('cannot enable audit device via API; use declarative, config-based audit device management instead');
      }
      const id = name(path);
      if (id === '') throw new BadRequest('backend path must be specified');
      if (this.#devices.has(id)) throw new BadRequest('path already in use');
      this.#check(config);
      const record = newRecord(config, randomUUID());
      const device = this.#create(id, record, false);
      try {
        const test: AuditEntry = { auth: {}, request: { id: randomUUID(), operation: 'update', path: 'sys/audit/test' } };
        await device.queue.test(device.formatter.line(test, this.#options.clock.now())).catch((error: Error) => {
          throw new BadRequest(`audit backend failed test message: ${error.message}`);
        });
        await this.#options.storage.transaction(async (tx) => {
          const records = tx.collection(DEVICES, DeviceRecord, { cached: true });
          if (await records.has(id)) throw new BadRequest('path already in use');
          await records.put(id, record);
        });
      } catch (error) {
        await device.queue.close();
        throw error;
      }
      this.#devices.set(id, device);
    });
  }

  /** Removes a device, broken or not; an unknown one is gone already. @throws BadRequest for one of the configuration */
  disable(path: string): Promise<void> {
    return this.#change(async () => {
      const id = name(path);
      const device = this.#devices.get(id);
      if (device?.configured) throw new BadRequest('cannot disable configuration-managed audit device');
      await this.#records.delete(id);
      this.#devices.delete(id);
      await device?.queue.close();
    });
  }

  /** What everybody may know of devices that do not write. */
  warnings(): string[] {
    const devices = [...this.#devices.values()];
    const found: string[] = [];
    if (devices.some(({ queue }) => queue.state !== 'healthy')) found.push(this.#full()?.warning ?? 'an audit device cannot write');
    if (devices.some(({ queue }) => queue.status().buffer?.last_error))
      found.push('an audit device cannot deliver what it keeps in its buffer');
    return found;
  }

  #full(): (typeof FULL)[Full] | undefined {
    const full = [...this.#devices.values()].flatMap(({ queue }) => (queue.state === 'healthy' ? [] : (queue.full ?? [])));
    return full[0] && FULL[full[0]];
  }

  figures(): AuditFigures[] {
    return [...this.#devices].map(([id, { record, queue }]) => ({ path: `${id}/`, type: record.type, ...queue.status(), ...queue.effort }));
  }

  list(): AuditDeviceInfo[] {
    return [...this.#devices]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, { record, queue }]) => ({
        path: `${id}/`,
        type: record.type,
        description: record.description,
        options: { ...this.#shown(record) },
        local: record.local,
        status: queue.status(),
      }));
  }

  /** The digest of a value in this device's lines. @throws BadRequest for an unknown device */
  hash(path: string, input: string): string {
    const device = this.#devices.get(name(path));
    if (!device) throw new BadRequest(`unknown audit backend ${JSON.stringify(`${name(path)}/`)}`);
    return device.formatter.digest(input);
  }

  /** Log rotation: every device opens its destination again. A device that cannot is logged and fails its next line. */
  async reopen(): Promise<void> {
    await Promise.all(
      [...this.#devices].map(([id, { queue }]) =>
        queue
          .reopen()
          .catch((error: Error) => this.#options.log.error('audit device cannot be reopened', { device: `${id}/`, error: error.message })),
      ),
    );
  }

  /** Another process changed this key of the view. */
  invalidate(key: string): void {
    void this.#change(async () => {
      await this.headers.refresh(key);
      if (key.startsWith(DEVICES)) await this.#refresh(key.slice(DEVICES.length));
    }).catch((error: Error) => this.#options.log.error('a changed audit setting cannot be read', { key, error: error.message }));
  }

  /** It is unknown which records changed: reads all of them again. */
  readAnew(): Promise<void> {
    return this.#change(async () => {
      await this.headers.load();
      for (const id of new Set([...(await this.#records.list()), ...this.#devices.keys()])) await this.#refresh(id);
    });
  }

  async #refresh(id: string): Promise<void> {
    const device = this.#devices.get(id);
    if (device?.configured) return;
    const record = await this.#records.get(id);
    if (device?.record.salt === record?.salt) return;
    if (record) this.#add(id, record, false);
    else this.#devices.delete(id);
    await device?.queue.close();
  }

  /** At seal and shutdown; what waits is written first. */
  async close(): Promise<void> {
    const devices = [...this.#devices.values()];
    this.#devices.clear();
    await Promise.all(devices.map((device) => device.queue.close()));
  }

  async #write(entry: AuditEntry, refused: () => Error): Promise<void> {
    if (this.#devices.size === 0) return;
    const now = this.#options.clock.now();
    const sure: Promise<boolean>[] = [];
    const doubtful: Promise<boolean>[] = [];
    for (const device of this.#devices.values()) (device.queue.state === 'healthy' ? sure : doubtful).push(this.#wrote(device, entry, now));
    if ((await Promise.all(sure)).includes(true)) return;
    if (!(await anyTrue(doubtful))) throw refused();
  }

  async #wrote({ formatter, queue }: Device, entry: AuditEntry, now: Date): Promise<boolean> {
    let line: string;
    try {
      const digests = formatter.digestsFor(entry, nextTurn);
      line = formatter.line(entry, now, digests && (await digests));
    } catch (error) {
      this.#options.log.error('an audit entry cannot be formatted', { path: entry.request.path, error: (error as Error).message });
      return false;
    }
    return queue.write(line).then(
      () => true,
      () => false,
    );
  }

  #check(config: AuditDeviceConfig): void {
    const plugin = this.#plugin(config.type);
    const options = config.options ?? {};
    auditFormat(options);
    plugin.check(options);
  }

  #shown({ type, options }: DeviceRecord): Readonly<Record<string, string>> {
    return this.#options.plugins.find((known) => known.name === type)?.shown?.(options) ?? options;
  }

  #plugin(type: string): AuditDevicePlugin {
    const plugin = this.#options.plugins.find((known) => known.name === type);
    if (!plugin) throw new BadRequest(`unknown backend type: ${JSON.stringify(type)}`);
    return plugin;
  }

  /** A record that cannot be read is a device that cannot write: it harms no unsealing, and no request goes unseen. */
  async #addStored(id: string): Promise<void> {
    try {
      const record = await this.#records.get(id);
      if (record) this.#add(id, record, false);
    } catch (error) {
      this.#options.log.error('a stored audit device cannot be read', { device: `${id}/`, error: (error as Error).message });
      this.#add(id, newRecord({ type: 'unreadable' }, randomUUID()), false);
    }
  }

  /** The digests of a configured device stay the same over restarts, and in all processes. */
  #configuredSalt(id: string): Promise<string> {
    return this.#options.storage.transaction(async (tx) => {
      const salts = tx.collection('configured/', SaltRecord);
      const known = await salts.get(id);
      const salt = known?.salt ?? randomUUID();
      if (!known) await salts.put(id, { salt });
      return salt;
    });
  }

  #add(id: string, record: DeviceRecord, configured: boolean): void {
    const device = this.#create(id, record, configured);
    this.#devices.set(id, device);
    device.queue.start();
  }

  #create(id: string, record: DeviceRecord, configured: boolean): Device {
    const { clock, log } = this.#options;
    const formatter = new AuditFormatter(record.salt, auditFormat(record.options), this.headers.rules);
    const open = async (): ReturnType<AuditDevicePlugin['open']> => this.#plugin(record.type).open(record.options, { clock, log });
    const queue = new AuditQueue(open, clock, this.#limits, (state, status) => {
      const fields = { device: `${id}/`, state, error: status.last_error, failed: status.failed, dropped: status.dropped };
      if (state === 'healthy') log.info('audit device writes again', fields);
      else log.error('audit device cannot write', fields);
    });
    return { record, formatter, queue, configured };
  }

  /** Changes to the list of devices are made one after the other. */
  #change<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#changes.then(work);
    this.#changes = turn.catch(() => {});
    return turn;
  }
}

function newRecord(config: AuditDeviceConfig, salt: string): DeviceRecord {
  const { type, description = '', options = {}, local = false } = config;
  return { type, description, options: { ...options }, local, salt };
}

/** True as soon as one is. */
function anyTrue(answers: readonly Promise<boolean>[]): Promise<boolean> {
  return new Promise((resolve) => {
    void Promise.all(answers.map((answer) => answer.then((yes) => (yes ? resolve(true) : undefined)))).then(() => resolve(false));
  });
}

/** A path as records spell it: no slash at either end. */
function name(path: string): string {
  return path.replace(/^\/+|\/+$/g, '');
}
