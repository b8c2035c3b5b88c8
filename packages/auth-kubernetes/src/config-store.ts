import { BadRequest, requireSecretsAgain, type StorageView, type Transaction } from '@strongroom/engine-sdk';
import { KubernetesConfig, reviewerMoves, writtenConfig, type ConfigData } from './config.ts';

const ID = 'kubernetes';

/** The mount's configuration. */
export class ConfigStore {
  readonly #storage: StorageView;

  constructor(storage: StorageView) {
    this.#storage = storage;
  }

  async read(): Promise<KubernetesConfig | undefined> {
    return configs(this.#storage).get(ID);
  }

  /** @throws BadRequest before the first write */
  async required(): Promise<KubernetesConfig> {
    const config = await this.read();
    if (!config) throw new BadRequest('could not load backend configuration: write kubernetes_host to config first');
    return config;
  }

  /** `sudo`: may have the stored token sent to a server that another CA vouches for. @throws BadRequest for what cannot be stored */
  async write(data: ConfigData, sudo: boolean): Promise<KubernetesConfig> {
    return this.#storage.transaction(async (tx) => {
      const stored = await configs(tx).get(ID);
      const written = writtenConfig(stored, data);
      requireReviewerAgain(stored, written, data, sudo);
      await configs(tx).put(ID, written);
      return written;
    });
  }
}

/** @throws BadRequest where a token that the caller may not know would go to a server that another CA vouches for */
export function requireReviewerAgain(
  stored: KubernetesConfig | undefined,
  written: KubernetesConfig,
  data: Pick<ConfigData, 'token_reviewer_jwt'>,
  sudo: boolean,
): void {
  const kept = data.token_reviewer_jwt === undefined && written.token_reviewer_jwt !== '';
  requireSecretsAgain({ changed: reviewerMoves(stored, written), kept: kept ? ['token_reviewer_jwt'] : [], sudo });
}

function configs(view: StorageView | Transaction) {
  return view.collection('config/', KubernetesConfig);
}
