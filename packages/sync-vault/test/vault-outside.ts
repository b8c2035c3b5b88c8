import type { Outside, OutsideSecret } from '@strongroom/sync-testkit';
import type { VaultConnection } from '../src/index.ts';
import type { PeerDoor } from './peer-door.ts';

/** The whole connection to a server behind its door. */
export function connectionTo(address: string, more: Partial<VaultConnection> = {}): VaultConnection {
  const absent = { role_id: undefined, secret_id: undefined, namespace: undefined, path_prefix: undefined };
  return {
    address,
    token: 'root',
    approle_path: 'approle',
    mount: 'secret',
    tls_ca: undefined,
    tls_server_name: undefined,
    ...absent,
    ...more,
  };
}

/** Key-value secrets as an administrator sees and changes them. */
export class VaultOutside implements Outside {
  door!: PeerDoor;

  /** The data of the current version; undefined where there is none. */
  async see(name: string): Promise<Readonly<Record<string, unknown>> | undefined> {
    return ((await this.door.ask('GET', `secret/data/${encode(name)}`)) as { data?: Record<string, unknown> | null }).data ?? undefined;
  }

  async metadata(name: string): Promise<Readonly<Record<string, unknown>>> {
    return this.door.ask('GET', `secret/metadata/${encode(name)}`);
  }

  /** A single key `value` is a value; any others are the JSON of a secret. */
  async read(name: string): Promise<OutsideSecret | undefined> {
    const data = await this.see(name);
    if (!data) return undefined;
    const { value, ...others } = data;
    const tags = ((await this.metadata(name))['custom_metadata'] ?? {}) as Record<string, string>;
    return { value: typeof value === 'string' && Object.keys(others).length === 0 ? value : JSON.stringify(data), tags };
  }

  async write(name: string, value: string): Promise<void> {
    const there = await this.see(name);
    const data = there && !('value' in there) ? Object.fromEntries(Object.keys(there).map((key) => [key, value])) : { value };
    await this.set(name, data);
  }

  async set(name: string, data: object): Promise<void> {
    await this.door.ask('POST', `secret/data/${encode(name)}`, { data });
  }

  async remove(name: string): Promise<void> {
    await this.door.ask('DELETE', `secret/metadata/${encode(name)}`);
  }

  /** Removes every secret of the mount. */
  async empty(): Promise<void> {
    await this.door.ask('DELETE', 'sys/mounts/secret');
    await this.door.ask('POST', 'sys/mounts/secret', { type: 'kv', options: { version: '2' } });
    // A new mount of OpenBao refuses calls while it prepares itself.
    for (let tries = 0; tries < 100; tries += 1) {
      const ready = await this.door.ask('GET', 'secret/config').then(
        () => true,
        () => false,
      );
      if (ready) return;
    }
  }

  requests(): number {
    return this.door.requests;
  }

  fail(how: 'throttled' | 'failing' | 'hanging'): void {
    this.door.fail(how);
  }

  heal(): void {
    this.door.heal();
  }
}

function encode(name: string): string {
  return name.split('/').map(encodeURIComponent).join('/');
}
