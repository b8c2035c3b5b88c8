/** One entry of a search result. Attribute names keep the server's variant; every look-up here ignores their case. */
export class LdapEntry {
  /** The name exactly as the server wrote it. */
  readonly dn: string;
  /** Values by the server's variant of the attribute name, in the server's order. */
  readonly attributes: ReadonlyMap<string, readonly Buffer[]>;
  /** The server where a referral led to it, as `ldap://host:port`; undefined for an entry of the servers of the settings. */
  readonly server: string | undefined;

  constructor(dn: string, attributes: ReadonlyMap<string, readonly Buffer[]>, server?: string) {
    this.dn = dn;
    this.attributes = attributes;
    this.server = server;
  }

  /** The raw values; empty when the entry has none. */
  buffers(name: string): readonly Buffer[] {
    const exact = this.attributes.get(name);
    if (exact !== undefined) return exact;
    const wanted = name.toLowerCase();
    for (const [variant, values] of this.attributes) if (variant.toLowerCase() === wanted) return values;
    return [];
  }

  /** The values as UTF-8 text; empty when the entry has none. */
  values(name: string): string[] {
    return this.buffers(name).map((value) => value.toString('utf8'));
  }

  /** The first value as UTF-8 text; undefined when the entry has none. */
  first(name: string): string | undefined {
    return this.buffers(name)[0]?.toString('utf8');
  }

  /** The server's variant of an attribute name; undefined when the entry lacks it. */
  spellingOf(name: string): string | undefined {
    if (this.attributes.has(name)) return name;
    const wanted = name.toLowerCase();
    for (const variant of this.attributes.keys()) if (variant.toLowerCase() === wanted) return variant;
    return undefined;
  }
}
