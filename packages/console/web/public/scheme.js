(function () {
  var chosen = null;
  try {
    chosen = localStorage.getItem('strongroom-color-scheme');
  } catch {
    // Without storage the system's choice holds.
  }
  var dark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light');
})();
