import type { Collection, EngineHost, StorageView, Transaction } from '@strongroom/engine-sdk';
import { Remembered } from './remembered.ts';
import { requiredExtension, Role } from './role.ts';
import { Certificate } from './x509/certificate.ts';

const PREFIX = 'certs/';

/** A role with its certificates read. */
export interface TrustedRole {
  readonly name: string;
  readonly role: Role;
  /** CAs, each of which may end a path; empty where `single` is set. */
  readonly anchors: readonly Certificate[];
  /** The one certificate that may log in. */
  readonly single: Certificate | undefined;
  /** Further CAs of OCSP responders. */
  readonly ocspAuthorities: readonly Certificate[];
  readonly requiredExtensions: readonly { readonly oid: string; readonly pattern: string }[];
}

/** The roles of the mount, read once until one changes. */
export class RoleStore {
  readonly #storage: StorageView;
  readonly #roles: Remembered<ReadonlyMap<string, TrustedRole>>;

  constructor({ storage, log, mount }: Pick<EngineHost, 'storage' | 'log' | 'mount'>) {
    this.#storage = storage;
    this.#roles = new Remembered(async () => {
      const roles = new Map<string, TrustedRole>();
      for (const name of await roleRecords(storage).list()) {
        try {
          const role = await roleRecords(storage).get(name);
          if (role) roles.set(name, trusted(name, role));
        } catch (error) {
          // One damaged role lets nobody in, and keeps nobody of the others out.
          log.error('a stored role cannot be read', { mount: mount.path, role: name, error });
        }
      }
      return roles;
    });
  }

  /** In the order of their names. */
  async all(): Promise<readonly TrustedRole[]> {
    return [...(await this.#roles.get()).values()];
  }

  async get(name: string): Promise<TrustedRole | undefined> {
    return (await this.#roles.get()).get(name.toLowerCase());
  }

  /** The storage through which roles are written: what is remembered is read again after a transaction of it. */
  get storage(): StorageView {
    const storage = this.#storage;
    return {
      collection: (prefix, schema, options) => storage.collection(prefix, schema, options),
      jobStatus: (job, id) => storage.jobStatus(job, id),
      managerOf: (account) => storage.managerOf(account),
      transaction: async (work) => {
        try {
          return await storage.transaction(work);
        } finally {
          this.#roles.forget();
        }
      },
    };
  }

  invalidate(key: string): void {
    if (key.startsWith(PREFIX)) this.#roles.forget();
  }
}

export function roleRecords(view: StorageView | Transaction): Collection<Role> {
  return view.collection(PREFIX, Role, { cached: true });
}

/** @throws CertificateUnreadable for what no write stored */
export function trusted(name: string, role: Role): TrustedRole {
  const certificates = Certificate.readPem(role.certificate);
  const [first] = certificates;
  return {
    name,
    role,
    anchors: first?.isAuthority ? certificates : [],
    single: first?.isAuthority ? undefined : first,
    ocspAuthorities: Certificate.readPem(role.ocsp_ca_certificates),
    requiredExtensions: role.required_extensions.flatMap((text) => requiredExtension(text) ?? []),
  };
}
