import { API_VERSION } from '@strongroom/engine-sdk';
import type { AuditDevice, AuditDevicePlugin, BufferStatus } from '../../../src/services/audit/audit-device.ts';

/** A device that a test breaks, blocks and mends. */
export class FakeDevice implements AuditDevice {
  readonly writes: (readonly string[])[] = [];
  error: Error | undefined;
  /** What `buffer` tells. */
  kept: BufferStatus | undefined;
  reopened = 0;
  closed = 0;
  #blocked: (() => void)[] | undefined;

  get lines(): string[] {
    return this.writes.flat();
  }

  /** Writes hang until `unblock`. */
  block(): void {
    this.#blocked = [];
  }

  unblock(): void {
    const waiting = this.#blocked ?? [];
    this.#blocked = undefined;
    for (const go of waiting) go();
  }

  async write(lines: readonly string[]): Promise<void> {
    if (this.#blocked) await new Promise<void>((go) => this.#blocked?.push(go));
    if (this.error) throw this.error;
    this.writes.push(lines);
  }

  buffer(): BufferStatus | undefined {
    return this.kept;
  }

  async reopen(): Promise<void> {
    this.reopened += 1;
  }

  async close(): Promise<void> {
    this.closed += 1;
  }
}

/** Type `fake`: the option `is` names one of the given devices. */
export function fakeAudit(devices: Readonly<Record<string, FakeDevice>>): AuditDevicePlugin {
  return {
    name: 'fake',
    kind: 'audit',
    apiVersion: API_VERSION,
    check: () => {},
    open: async (options) => {
      const device = devices[options['is'] ?? ''];
      if (!device) throw new Error('nothing to open');
      return device;
    },
  };
}
