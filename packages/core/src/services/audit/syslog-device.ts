import { hostname } from 'node:os';
import { API_VERSION, BadRequest, type Clock } from '@strongroom/engine-sdk';
import type { AuditDevice, AuditDevicePlugin } from './audit-device.ts';
import { DatagramDevice, socketOptions, StreamDevice } from './socket-device.ts';

/** By their numbers in RFC 5424; names that it has not are those of common systems. */
const FACILITIES = [
  ...['KERN', 'USER', 'MAIL', 'DAEMON', 'AUTH', 'SYSLOG', 'LPR', 'NEWS', 'UUCP', 'CRON', 'AUTHPRIV', 'FTP'],
  ...['NTP', 'SECURITY', 'CONSOLE', 'CLOCK', 'LOCAL0', 'LOCAL1', 'LOCAL2', 'LOCAL3', 'LOCAL4', 'LOCAL5', 'LOCAL6', 'LOCAL7'],
];
const INFORMATIONAL = 6;
const DEFAULT_ADDRESS = '/dev/log';

/** How lines become messages. */
export interface SyslogHeader {
  /** Facility and severity as one number. */
  readonly priority: number;
  /** The name of the program. */
  readonly tag: string;
  readonly host: string;
  readonly process: number;
}

/** @throws BadRequest naming the option. */
export function syslogHeader(options: Readonly<Record<string, string>>): SyslogHeader {
  const facility = (options['facility'] || 'AUTH').toUpperCase();
  const number = FACILITIES.indexOf(facility);
  if (number < 0)
    throw new BadRequest(`facility ${JSON.stringify(options['facility'])} is not known; must be one of ${FACILITIES.join(', ')}`);
  const tag = options['tag'] || 'strongroom';
  if (!/^[\x21-\x7e]{1,48}$/.test(tag)) throw new BadRequest('tag must be up to 48 printable ASCII characters without blanks');
  return { priority: number * 8 + INFORMATIONAL, tag, host: hostname().replaceAll(/[^\x21-\x7e]/g, '-') || '-', process: process.pid };
}

/** RFC 5424. A line of JSON has no line break, so that a stream may separate messages by one. */
export function syslogMessage({ priority, host, tag, process: id }: SyslogHeader, time: Date, line: string): string {
  return `<${priority}>1 ${time.toISOString()} ${host} ${tag} ${id} audit - ${line}`;
}

/** Type `syslog`: `facility`, `tag`, and where: `address`, `socket_type` (unix, tcp, udp), `write_timeout`. */
export const syslogAudit: AuditDevicePlugin = {
  name: 'syslog',
  kind: 'audit',
  apiVersion: API_VERSION,
  check: (options) => {
    syslogHeader(options);
    socketOptions(placed(options));
  },
  open: (options, { clock }) => {
    const socket = socketOptions(placed(options));
    const device = socket.type === 'udp' ? new DatagramDevice(socket) : new StreamDevice(socket, clock);
    return Promise.resolve(new SyslogDevice(device, syslogHeader(options), clock));
  },
};

/** Without an address, that of the local system. */
function placed(options: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return options['address'] ? options : { ...options, address: DEFAULT_ADDRESS, socket_type: 'unix' };
}

/** Lines as messages of syslog, over a socket. */
export class SyslogDevice implements AuditDevice {
  readonly #device: AuditDevice;
  readonly #header: SyslogHeader;
  readonly #clock: Clock;

  constructor(device: AuditDevice, header: SyslogHeader, clock: Clock) {
    this.#device = device;
    this.#header = header;
    this.#clock = clock;
  }

  async write(lines: readonly string[]): Promise<void> {
    const now = this.#clock.now();
    try {
      await this.#device.write(lines.map((line) => syslogMessage(this.#header, now, line)));
    } catch (error) {
      const cause = (error as Error).cause as NodeJS.ErrnoException | undefined;
      if (cause?.code !== 'EPROTOTYPE') throw error;
      throw new Error('the socket takes datagrams, which Node.js cannot send over a unix socket: have syslog listen on UDP or TCP', {
        cause: error,
      });
    }
  }

  reopen(): Promise<void> {
    return this.#device.reopen();
  }

  close(): Promise<void> {
    return this.#device.close();
  }
}
