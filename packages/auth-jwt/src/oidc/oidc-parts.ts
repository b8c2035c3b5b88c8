import type { Clock, Log, StorageView } from '@strongroom/engine-sdk';
import type { TemplateEnvironment } from '@strongroom/go-template';
import type { ConfigStore } from '../config/config-store.ts';
import type { IssuerHttp } from '../keys/issuer-http.ts';
import type { Flows } from './flows.ts';

/** What logins at a provider are made of. */
export interface OidcParts {
  readonly storage: StorageView;
  readonly configs: ConfigStore;
  readonly http: IssuerHttp;
  readonly flows: Flows;
  readonly clock: Clock;
  readonly log: Log;
  readonly template: TemplateEnvironment;
  randomBytes(count: number): Uint8Array;
}
