/** The wrapping token behind the `#` of the address. It is taken out of the address and the history at once; no server ever sees it. */
export function takeFragmentToken(): string {
  const token = decodeURIComponent(location.hash.slice(1));
  if (location.hash !== '') history.replaceState(history.state, '', location.pathname + location.search);
  return token;
}
