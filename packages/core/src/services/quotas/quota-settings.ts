import { Type, type Static } from 'typebox';
import type { Collection, StorageView } from '@strongroom/engine-sdk';

const Settings = Type.Object({
  enable_rate_limit_audit_logging: Type.Boolean(),
  enable_rate_limit_response_headers: Type.Boolean(),
  rate_limit_exempt_paths: Type.Array(Type.String()),
});
export type QuotaConfig = Static<typeof Settings>;

/** Until the settings are written for the first time. */
const DEFAULTS: QuotaConfig = {
  enable_rate_limit_audit_logging: false,
  enable_rate_limit_response_headers: false,
  rate_limit_exempt_paths: [
    'sys/generate-recovery-token/attempt',
    'sys/generate-recovery-token/update',
    'sys/generate-root/attempt',
    'sys/generate-root/update',
    'sys/health',
    'sys/seal-status',
    'sys/unseal',
  ],
};

const ID = 'config';

/** What holds for all rate limits. Asked synchronously at each request. */
export class QuotaSettings {
  readonly #records: Collection<QuotaConfig>;
  #config = DEFAULTS;

  constructor(storage: StorageView) {
    this.#records = storage.collection('settings/', Settings, { cached: true });
  }

  async load(): Promise<void> {
    this.#config = (await this.#records.get(ID)) ?? DEFAULTS;
  }

  get config(): QuotaConfig {
    return this.#config;
  }

  get responseHeaders(): boolean {
    return this.#config.enable_rate_limit_response_headers;
  }

  get auditsRefusals(): boolean {
    return this.#config.enable_rate_limit_audit_logging;
  }

  /** Replaces all settings. */
  async replace(config: QuotaConfig): Promise<void> {
    await this.#records.put(ID, config);
    this.#config = config;
  }

  /** Whether no rate limit counts requests to the path: it is in the list, or begins like an entry that ends in `*`. */
  exempts(path: string): boolean {
    const bare = path.replace(/\/$/, '');
    return this.#config.rate_limit_exempt_paths.some((entry) =>
      entry.endsWith('*') ? path.startsWith(entry.slice(0, -1)) : entry.replace(/\/$/, '') === bare,
    );
  }
}
