/** The page: a frame that scripts fill. No name from data stands in it. */
export const pageHtml = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>kgwalk</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/style.css">
<script src="/chart.js" defer></script>
<script src="/scripts/serve/browser/main.js" type="module"></script>
</head>
<body>
<a class="skip" href="#view">Skip to the content</a>
<header class="bar">
<p class="brand">kgwalk</p>
<nav id="tabs" aria-label="views"></nav>
<p id="connection" role="status"></p>
</header>
<div class="columns">
<aside id="runs" aria-label="runs"></aside>
<main id="view" tabindex="-1"><noscript>This page needs JavaScript; \`kgwalk report RUN\` writes one that can be read without.</noscript></main>
</div>
</body>
</html>
`;
