/** Plots of the last hours, under the rows of the home page. */
export function Plots() {
  return null;
}
