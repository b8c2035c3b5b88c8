import { BadRequest, type StorageView } from '@strongroom/engine-sdk';
import { claimsTemplate, plainTemplate } from './claims-template.ts';
import { isName, oidcRecords, requireShortName, type OidcRecords, type Scope } from './oidc-records.ts';
import type { TemplateFacts } from './template-selector.ts';

/** The scope that every client asks for. It adds no claims. */
export const OPENID = 'openid';

/** Named sets of claims that clients may ask for. */
export class Scopes {
  readonly #storage: () => StorageView;

  constructor(storage: () => StorageView) {
    this.#storage = storage;
  }

  get records(): OidcRecords['scopes'] {
    return oidcRecords(this.#storage()).scopes;
  }

  async get(name: string): Promise<Scope | undefined> {
    return isName(name) ? this.records.get(name) : undefined;
  }

  /** @throws BadRequest */
  async save(name: string, fields: { readonly template?: string | undefined; readonly description?: string | undefined }): Promise<void> {
    requireShortName(name);
    if (name === OPENID) throw new BadRequest(`the ${JSON.stringify(OPENID)} scope name is reserved`);
    const template = fields.template === undefined ? undefined : plainTemplate(fields.template);
    if (template !== undefined) claimsTemplate(template);
    await this.#storage().transaction(async (tx) => {
      const { scopes } = oidcRecords(tx);
      const before = await scopes.get(name);
      await scopes.put(name, {
        template: template ?? before?.template ?? '',
        description: fields.description ?? before?.description ?? '',
      });
    });
  }

  /** Unknown ones are no error. @throws BadRequest while a provider offers it */
  async remove(name: string): Promise<void> {
    await this.#storage().transaction(async (tx) => {
      const records = oidcRecords(tx);
      const users = (await records.providers.entries()).filter(([, { scopes_supported }]) => scopes_supported.includes(name));
      if (users.length > 0)
        throw new BadRequest(
          `unable to delete scope ${JSON.stringify(name)} because it is currently referenced by these providers: ${users.map(([provider]) => provider).join(', ')}`,
        );
      await records.scopes.delete(name);
    });
  }

  /** The claims of several scopes. A scope that is gone adds none. Undefined, with the reason, where two set the same claim. */
  async claims(names: readonly string[], facts: TemplateFacts): Promise<{ claims: Record<string, unknown> } | { conflict: string }> {
    const claims: Record<string, unknown> = {};
    const setBy = new Map<string, string>();
    for (const name of names) {
      const scope = await this.get(name);
      if (!scope) continue;
      for (const [claim, value] of Object.entries(claimsTemplate(scope.template).claims(facts))) {
        const other = setBy.get(claim);
        if (other !== undefined) return { conflict: conflictText(claim, name, other) };
        setBy.set(claim, name);
        Object.defineProperty(claims, claim, { value, enumerable: true, configurable: true, writable: true });
      }
    }
    return { claims };
  }

  /** Warnings for claims that two of the scopes set. @throws BadRequest for a scope that is not there */
  async overlaps(names: readonly string[]): Promise<string[]> {
    const setBy = new Map<string, string>();
    const warnings: string[] = [];
    for (const name of names) {
      const scope = await this.get(name);
      if (!scope) throw new BadRequest(`scope ${JSON.stringify(name)} does not exist`);
      for (const claim of claimsTemplate(scope.template).names) {
        const other = setBy.get(claim);
        if (other !== undefined)
          warnings.push(
            `Found scope templates with conflicting top-level keys: conflict ${JSON.stringify(claim)} in scopes ${JSON.stringify(name)}, ` +
              `${JSON.stringify(other)}. This may result in an error if the scopes are requested in an OIDC Authentication Request.`,
          );
        setBy.set(claim, name);
      }
    }
    return warnings;
  }
}

function conflictText(claim: string, scope: string, other: string): string {
  return `found scopes with conflicting top-level claim: claim ${JSON.stringify(claim)} in scopes ${JSON.stringify(scope)}, ${JSON.stringify(other)}`;
}
