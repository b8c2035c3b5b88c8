/** What the server shows of a destination or an app, as forms have it: secrets are shown masked, and their fields say that they are set. */
export function shownDetails(details: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(details).map(([name, value]) => (value === '*****' ? [`${name}_set`, true] : [name, value])));
}
