import { defaultTokenParameters, f, path, tokenTerms, type EnginePackage, type IssuedAuth, type TokenTerms } from '@strongroom/engine-sdk';

/** What the gate grants with the next login. */
export interface Grant {
  user: string;
  /** The user by default. */
  displayName?: string;
  policies: readonly string[];
  terms: Partial<TokenTerms>;
  consume?: NonNullable<IssuedAuth['consume']>;
}

/** A login method that lets everybody in, and whose tests choose what it grants. Renewals ask for the terms of the login. */
export function gateLogin(): { readonly plugin: EnginePackage; readonly grant: Grant } {
  const grant: Grant = { user: 'ann', policies: ['team'], terms: {} };
  const login = path('login', {
    synopsis: 'Lets in.',
    description: 'Everybody.',
    login: () => grant.user,
    fields: { x: f.string('Nothing.') },
  }).update({
    summary: 'Logs in.',
    handle: async () => {
      const terms = { ...tokenTerms(defaultTokenParameters), ...grant.terms };
      return {
        auth: {
          displayName: grant.displayName ?? grant.user,
          policies: grant.policies,
          metadata: {},
          alias: { name: grant.user },
          terms,
          internal: { ttl: terms.ttl, maxTtl: terms.maxTtl, period: terms.period },
          ...(grant.consume ? { consume: grant.consume } : {}),
        },
      };
    },
  });
  const plugin: EnginePackage = {
    name: 'gate',
    kind: 'auth',
    apiVersion: 2,
    create: () => ({
      paths: [login],
      renewAuth: async ({ internal }) => internal as { ttl: number; maxTtl: number; period: number },
    }),
  };
  return { plugin, grant };
}
