/**
 * The words of an error that a driver or the network threw: those of a network may stand in its code alone, or in the errors that it gathers. `own`
 * words an error that the plugin knows better, and gives undefined for others.
 */
export function driverErrorText(error: unknown, own: (error: unknown) => string | undefined = () => undefined): string {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map((one) => driverErrorText(one, own)).join('; ');
  const known = own(error);
  if (known !== undefined) return known;
  return error instanceof Error ? error.message || String('code' in error ? error.code : error.name) : String(error);
}
