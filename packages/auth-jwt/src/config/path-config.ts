import { abortable, type AnyPath, NoContent, path, shownFields, thrownText } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { IssuerHttp } from '../keys/issuer-http.ts';
import { configFields } from './config-fields.ts';
import type { ConfigStore } from './config-store.ts';
import type { JwtConfig } from './config.ts';
import { trySource } from './try-source.ts';

export function configPath(configs: ConfigStore, http: IssuerHttp): AnyPath {
  return path('config', {
    synopsis: 'Configure the token issuer.',
    description:
      'A write replaces the whole configuration and resets omitted parameters, except namespace_in_state, and oidc_client_secret while issuer and client id ' +
      'stay the same. A write fetches the keys and fails if it cannot, unless skip_jwks_validation is set.',
    fields: configFields,
  })
    .read({
      summary: 'Read the configuration.',
      response: shownFields(configFields, { status: Type.String({ description: 'valid or invalid.' }) }),
      handle: async (req) => {
        const setup = await configs.setup();
        if (!setup) return undefined;
        if (setup.keys.problem()?.unknown === true) await abortable(req.signal, setup.keys.warm());
        const problem = setup.keys.known().length > 0 ? undefined : setup.keys.problem()?.error;
        if (problem === undefined) return { data: { ...shownConfig(setup.config), status: 'valid' } };
        return {
          data: { ...shownConfig(setup.config), status: 'invalid' },
          warnings: [`failed to construct JWK validator: ${problem}`],
        };
      },
    })
    .update({
      summary: 'Configure the method.',
      response: NoContent,
      handle: async (req) => {
        const { skip_jwks_validation: skip, ...data } = req.data;
        const merged = await configs.merged(data, req.supplied);
        const problem = await trySource(merged, http, req.signal).then(
          () => undefined,
          (error: unknown) => {
            if (!skip) throw error;
            return thrownText(error);
          },
        );
        await configs.write(data, req.supplied);
        return problem === undefined ? undefined : { warnings: [problem] };
      },
    });
}

/** What a read shows: no secret, and what other servers do not have only where it is set. */
function shownConfig({ oidc_client_secret: _secret, jwks_pairs, hide_refusal_reasons, ...config }: JwtConfig): Record<string, unknown> {
  return {
    ...config,
    ...(jwks_pairs.length === 0 ? {} : { jwks_pairs }),
    ...(hide_refusal_reasons ? { hide_refusal_reasons } : {}),
  };
}
