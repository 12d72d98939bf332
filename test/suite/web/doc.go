// Package web holds the controller's page against a real browser: a cluster is
// driven through real decisions, the page that shows it is loaded in headless
// Chromium, and used with a keyboard and at the width of a phone.
//
// Not here: what stands on the page (controller/record/web).
package web
